"""Small maps of all heads: each is max-pooled to a few cells of one byte, so that no strong link is lost."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bartviz.analysis.weight_scale import Range, shares
from bartviz.arrays import Bools, Floats, Ints
from bartviz.record.attention import Attention

Bytes = NDArray[np.uint8]

# The bytes of a weight of 1, and of a block that is masked wholly: 255 would be sent as "/" in base64, which plotly
# writes as six characters.
ONE, MASKED = 240, 250
_NEVER = -1e30  # the score of a masked cell: its exponential is 0
_SAFE = 60.0  # scores within this have exponentials, and sums of them, that float32 holds
_DENSE, _PARTS = 0.8, 4  # share of open cells from which everything is computed at once; below it in this many parts
LARGE = 12_000_000  # weights from which another thread is worth its beginning
_THREADS = min(4, os.cpu_count() or 1)  # NumPy lets them run at once; each takes whole heads, so none waits for another
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
    """Every head of ``layers`` (by default all), max-pooled to 64 x 64 cells, fewer if there are many heads.

    A cell is 240 for the top of the colour scale (a weight of 1, or as in ``span``), 250 if all of it is masked.
    ``keys`` (K,): the columns that are kept; all where none would be left, as in a large map.
    """
    chosen = tuple(range(attention.shape[0]) if layers is None else layers)
    kept = None if keys is None or keys.all() or not keys.any() else np.flatnonzero(keys)
    seen = attention.mask if kept is None else attention.mask[:, kept]  # (Q, K')
    side = cells(len(chosen) * attention.shape[1])
    rows, columns = (_starts(length, side) for length in seen.shape)
    open_blocks = np.maximum.reduceat(np.maximum.reduceat(seen, rows, axis=0), columns, axis=1)  # (h, w)
    small = np.empty((len(chosen), attention.shape[1], *open_blocks.shape), np.float32)
    strongest = np.empty(small.shape[:2], np.float32)

    def some(places: list[tuple[int, int]]) -> None:
        pool = _Pool(attention, kept, columns)
        for place, head in places:
            largest = pool.head(chosen[place], head)  # (w, Q)
            strongest[place, head] = largest.max()
            np.maximum.reduceat(shares(largest.T, span).T, rows, axis=1, out=small[place, head].T)

    every = [(place, head) for place in range(len(chosen)) for head in range(attention.shape[1])]
    threads = _THREADS if attention.mask.size * len(every) > LARGE else 1
    with ThreadPoolExecutor(threads) as workers:
        list(workers.map(some, [every[first::threads] for first in range(threads)]))
    np.rint(np.clip(small, 0, 1, out=small) * ONE, out=small)
    return Small(np.where(open_blocks, small, MASKED).astype(np.uint8), strongest, chosen, span)


class _Pool:
    """The largest weight of each row in each block of columns, without the weights themselves.

    Keys go down and queries across, (K, Q), so that a softmax, and the largest of some keys, run over whole rows of
    memory. exp(x) / Z grows with x: the largest score of a block gives its largest weight, and of all other scores only
    the sum Z of their exponentials is needed. Under a mask only the parts with open cells are computed.
    """

    def __init__(self, attention: Attention, kept: Ints | None, columns: Ints) -> None:
        self._attention = attention
        self._shape = len(columns), attention.shape[2]
        self._blind = np.flatnonzero(~attention.mask.any(axis=1))  # rows whose keys are all masked
        self._parts = _parts(attention.mask, kept, columns)
        self._kept, self._columns = kept, columns

    def _from_weights(self, weights: Floats) -> Floats:
        """(w, Q) from the weights (Q, K) of a head."""
        shown = weights if self._kept is None else weights[:, self._kept]
        return np.ascontiguousarray(np.maximum.reduceat(shown, self._columns, axis=1).T)

    def head(self, layer: int, head: int) -> Floats:
        """(w, Q): exact to the rounding of float32."""
        given = self._attention
        if not given.plain:  # windows differ by layer, and a cap or a sink changes the sum: all weights are computed
            return self._from_weights(given.head(layer, head))
        bias = given.bias_of(layer)
        key, query = given.keys[layer, head], given.queries[layer, head].T * np.float32(given.scale)  # (K, d), (d, Q)
        largest = np.full(self._shape, _NEVER, np.float32)
        top = np.full(self._shape[1], _NEVER, np.float32)  # (Q,) the row's largest score
        for part in self._parts:
            part.score(key, query, None if bias is None else bias[head])
            most = top[part.queries]
            np.maximum(most, part.pool(largest[part.blocks, part.queries]), out=most)
        if top.min() > -_SAFE and top.max() < _SAFE:
            top[:] = 0  # no exponential overflows
        total = np.zeros_like(top)
        for part in self._parts:
            total[part.queries] += part.exponentials(top[part.queries])
        np.exp(largest if not top.any() else np.subtract(largest, top, out=largest), out=largest)
        total[self._blind] = 1
        largest /= total
        largest[:, self._blind] = 1 / given.shape[3]  # as such rows come out everywhere: evenly
        return largest


class _Part:
    """Some whole blocks of keys, with the queries that look at them; ``rest``: keys that count in Z alone.

    The scores (K', Q') are in the order in which they are pooled: the first key of every block, then the second of
    every block, and so on, so that the largest of all blocks is one pass over memory. Blocks differ by one key at most.
    """

    def __init__(self, mask: Bools, keys: list[Ints], blocks: slice, queries: slice, rest: Ints) -> None:
        self.blocks, self.queries = blocks, queries
        sizes = np.array([len(block) for block in keys])
        self._deep = int(sizes.min())
        self._longer = np.flatnonzero(sizes > self._deep)  # the blocks that have one more
        slabs = [np.array([block[place] for block in keys]) for place in range(self._deep)]
        self._keys = np.concatenate([*slabs, *(keys[block][-1:] for block in self._longer), rest])
        self._pooled = int(sizes.sum())
        hidden = ~mask[queries][:, self._keys].T  # (K', Q')
        self._hidden = np.ascontiguousarray(hidden) if hidden.any() else None
        self._scores = np.empty(hidden.shape, np.float32)
        self._ones = np.ones(len(self._keys), np.float32)

    def score(self, key: Floats, query: Floats, bias: Floats | None) -> None:
        np.matmul(key[self._keys], query[:, self.queries], out=self._scores)
        if bias is not None:
            self._scores += bias[self.queries][:, self._keys].T
        if self._hidden is not None:
            np.copyto(self._scores, _NEVER, where=self._hidden)

    def pool(self, out: Floats) -> Floats:
        """The largest score of each block into ``out`` (w', Q'); gives that of each row (Q',)."""
        width, across = out.shape
        slabs = self._scores[: self._deep * width].reshape(self._deep, width * across)
        out[:] = np.maximum.reduce(slabs, axis=0).reshape(width, across)
        out[self._longer] = np.maximum(out[self._longer], self._scores[self._deep * width : self._pooled])
        top: Floats = np.maximum(out.max(axis=0), self._scores[self._pooled :].max(axis=0, initial=_NEVER))
        return top

    def exponentials(self, top: Floats) -> Floats:
        """(Q',) the sum of exp(score - top); overwrites the scores."""
        scores = self._scores
        np.exp(np.subtract(scores, top, out=scores) if top.any() else scores, out=scores)
        total: Floats = self._ones @ scores
        return total


def _parts(mask: Bools, kept: Ints | None, columns: Ints) -> list[_Part]:
    """The open parts of a mask (Q, K), split where much of it is closed; ``columns``: where blocks begin, in ``kept``.

    A mask with few closed cells is one part, and so is one with hidden columns.
    """
    whole = np.arange(mask.shape[1])
    keys = np.split(whole if kept is None else kept, columns[1:])
    if kept is not None or mask.mean() > _DENSE:
        rest = whole[:0] if kept is None else np.setdiff1d(whole, kept)
        return [_Part(mask, keys, slice(0, len(keys)), slice(0, len(mask)), rest)]
    parts = []
    step = max(1, len(keys) // _PARTS)
    for place in range(0, len(keys), step):
        some = keys[place : place + step]
        looking = np.flatnonzero(mask[:, some[0][0] : some[-1][-1] + 1].any(axis=1))
        if len(looking):
            queries = slice(int(looking[0]), int(looking[-1]) + 1)
            parts.append(_Part(mask, some, slice(place, place + len(some)), queries, whole[:0]))
    return parts


def cells(heads: int) -> int:
    """Cells along a side, such that this many heads stay within the budget."""
    return int(min(SIDE, max(8, (BUDGET / heads) ** 0.5)))


def _starts(length: int, side: int) -> Ints:
    """Where the blocks begin: one per token, or ``side`` blocks of nearly equal size."""
    count = min(length, side)
    return np.arange(count) * length // count
