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
_NEVER = -1e30  # the score of a masked cell: its exponential is 0
_SAFE = 60.0  # scores within this have exponentials, and sums of them, that float32 holds
_DENSE, _PARTS = 0.8, 4  # an open share from which all is computed at once; else in so many parts
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
    kept = None if keys is None or keys.all() else np.flatnonzero(keys)
    seen = attention.mask if kept is None else attention.mask[:, kept]  # (Q, K')
    side = cells(len(chosen) * attention.shape[1])
    rows, columns = (_starts(length, side) for length in seen.shape)
    open_blocks = np.maximum.reduceat(np.maximum.reduceat(seen, rows, axis=0), columns, axis=1)  # (h, w)
    small = np.empty((len(chosen), attention.shape[1], *open_blocks.shape), np.float32)
    strongest = np.empty(small.shape[:2], np.float32)
    pool = _Pool(attention, kept, columns)
    for place, head in np.ndindex(strongest.shape):
        largest = pool.head(chosen[place], head)  # (w, Q)
        strongest[place, head] = largest.max()
        np.maximum.reduceat(shares(largest.T, span).T, rows, axis=1, out=small[place, head].T)
    np.rint(np.clip(small, 0, 1, out=small) * ONE, out=small)
    return Small(np.where(open_blocks, small, MASKED).astype(np.uint8), strongest, chosen, span)


class _Pool:
    """The largest weight of each row in each block of columns, without the weights themselves.

    Keys go down and queries across, (K, Q), so that a softmax, and the largest of some keys, run over whole rows of
    memory. exp(x) / Z grows with x: the largest score of a block gives its largest weight, and of all other scores only
    the sum Z of their exponentials is needed. Under a mask only those parts are computed in which somebody may look.
    """

    def __init__(self, attention: Attention, kept: Ints | None, columns: Ints) -> None:
        self._attention = attention
        self._kept = kept
        self._edges = list(pairwise([*columns.tolist(), attention.shape[3] if kept is None else len(kept)]))
        self._hidden = None if attention.mask.all() else np.ascontiguousarray(~attention.mask.T)  # (K, Q)
        self._blind = np.flatnonzero(~attention.mask.any(axis=1))  # rows that may look at nothing
        self._parts = _parts(attention.mask, self._edges if kept is None else [(0, attention.shape[3])])
        self._scores = np.full(attention.shape[:1:-1], _NEVER, np.float32)  # (K, Q)
        self._ones = np.ones(len(self._scores), np.float32)

    def head(self, layer: int, head: int) -> Floats:
        """(w, Q): exact to the rounding of float32."""
        given, scores = self._attention, self._scores
        key, query = given.k[layer, head], given.q[layer, head].T * np.float32(given.scale)  # (K, d), (d, Q)
        for keys, queries in self._parts:
            part = scores[keys, queries]
            np.matmul(key[keys], query[:, queries], out=part)
            if given.bias is not None:
                part += given.bias[head, queries, keys].T
            if self._hidden is not None:
                np.copyto(part, _NEVER, where=self._hidden[keys, queries])
        largest = self._pooled()
        self._exponentials(largest)
        total = np.zeros(given.shape[2], np.float32)  # (Q,)
        for keys, queries in self._parts:
            total[queries] += self._ones[keys] @ scores[keys, queries]
        total[self._blind] = 1
        largest /= total
        largest[:, self._blind] = 1 / given.shape[3]  # as such rows come out everywhere: evenly
        return largest

    def _pooled(self) -> Floats:
        """(w, Q) the largest score of each block."""
        largest = np.full((len(self._edges), self._attention.shape[2]), _NEVER, np.float32)
        if self._kept is not None:
            seen = self._scores[self._kept]  # (K', Q)
            for (start, end), block in zip(self._edges, largest, strict=True):
                np.maximum.reduce(seen[start:end], axis=0, out=block)
            return largest
        for keys, queries in self._parts:
            for (start, end), block in zip(self._edges, largest, strict=True):
                if keys.start <= start < keys.stop:
                    np.maximum.reduce(self._scores[start:end, queries], axis=0, out=block[queries])
        return largest

    def _exponentials(self, largest: Floats) -> None:
        """In place of all scores, those in ``largest`` (w, Q) too; less the row's largest where they might overflow."""
        top = largest.max(axis=0) if self._kept is None else self._scores.max(axis=0)  # (Q,)
        safe = top.min() > -_SAFE and top.max() < _SAFE
        for keys, queries in self._parts:
            part = self._scores[keys, queries]
            np.exp(part if safe else np.subtract(part, top[queries], out=part), out=part)
        np.exp(largest if safe else np.subtract(largest, top, out=largest), out=largest)


def _parts(mask: Bools, edges: list[tuple[int, int]]) -> list[tuple[slice, slice]]:
    """Blocks of keys (whole ones of ``edges``) with the queries that may look at any of them: all that is open.

    A mask (Q, K) without a gap, or with few of them, gives one part.
    """
    count = len(mask)
    if mask.mean() > _DENSE:
        return [(slice(0, mask.shape[1]), slice(0, count))]
    parts = []
    for place in range(0, len(edges), max(1, len(edges) // _PARTS)):
        start, end = edges[place][0], edges[min(place + max(1, len(edges) // _PARTS), len(edges)) - 1][1]
        looking = np.flatnonzero(mask[:, start:end].any(axis=1))
        if len(looking):
            parts.append((slice(start, end), slice(int(looking[0]), int(looking[-1]) + 1)))
    return parts


def cells(heads: int) -> int:
    """Cells along a side, so that so many heads stay within the budget."""
    return int(min(SIDE, max(8, (BUDGET / heads) ** 0.5)))


def _starts(length: int, side: int) -> Ints:
    """Where the blocks begin: one a token, or ``side`` of nearly equal size."""
    count = min(length, side)
    return np.arange(count) * length // count
