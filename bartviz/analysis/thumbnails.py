"""All heads at once, small: each map max-pooled to a few cells of one byte, so that no strong link is lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bartviz.analysis.spans import Range, shares
from bartviz.attention import Attention, Bools, Floats, Ints

Bytes = NDArray[np.uint8]

# The bytes of a weight of 1, and of a block that is masked wholly: 255 would be sent as "/" in base64, which plotly
# writes as six characters.
ONE, MASKED = 240, 250
SIDE = 64  # cells along a side of one small map, at most
BUDGET = 300_000  # cells of all small maps together


@dataclass(frozen=True, eq=False)
class Small:
    """Small maps: ``cells`` (L, H, h, w) uint8, ``strongest`` (L, H) the largest weight of each, and their layers."""

    cells: Bytes
    strongest: Floats
    layers: tuple[int, ...]
    span: Range


def thumbnails(
    attention: Attention, layers: Sequence[int] | None = None, *, keys: Bools | None = None, span: Range = "fixed"
) -> Small:
    """Every head of ``layers`` (all if not told), max-pooled to 64 x 64 cells, fewer when there are many heads.

    A cell is 240 for the top of the colour scale (a weight of 1, or what ``span`` says), 250 where all is masked.
    ``keys`` (K,): the columns that are kept.
    """
    chosen = tuple(range(attention.shape[0]) if layers is None else layers)
    kept = slice(None) if keys is None or keys.all() else np.flatnonzero(keys)
    seen = attention.mask[:, kept]  # (Q, K')
    side = cells(len(chosen) * attention.shape[1])
    rows, columns = (_starts(length, side) for length in seen.shape)
    open_blocks = _pooled(seen, rows, columns)  # (h, w)
    small = np.empty((len(chosen), attention.shape[1], *open_blocks.shape), np.uint8)
    strongest = np.empty(small.shape[:2], np.float32)
    for place, head in np.ndindex(strongest.shape):
        weights = attention.head(chosen[place], head)[:, kept]  # (Q, K')
        strongest[place, head] = weights.max()
        pooled = _pooled(shares(weights, span), rows, columns)  # (h, w)
        small[place, head] = np.where(open_blocks, np.rint(np.clip(pooled, 0, 1) * ONE), MASKED)
    return Small(small, strongest, chosen, span)


def _pooled(values: NDArray[np.generic], rows: Ints, columns: Ints) -> NDArray[np.generic]:
    """(h, w): the largest of each block of ``values`` (Q, K'); rows first, whose numbers lie side by side."""
    if len(rows) < len(values):
        edges = pairwise([*rows.tolist(), len(values)])
        values = np.stack([values[start:end].max(axis=0) for start, end in edges])  # (h, K')
    pooled: NDArray[np.generic] = np.maximum.reduceat(values, columns, axis=1)
    return pooled


def cells(heads: int) -> int:
    """Cells along a side, so that so many heads stay within the budget."""
    return int(min(SIDE, max(8, (BUDGET / heads) ** 0.5)))


def _starts(length: int, side: int) -> Ints:
    """Where the blocks begin: one a token, or ``side`` of nearly equal size."""
    count = min(length, side)
    return np.arange(count) * length // count
