"""The numbers of ``definitions`` for every head of a kind of attention, computed block by block of rows.

Letters in shapes: L layers, H heads, Q query rows, K key columns, b rows of a block, M measures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bartviz.analysis import contributions, look_ahead, word_matches
from bartviz.analysis.definitions import of_kind
from bartviz.analysis.look_ahead import Ways
from bartviz.analysis.word_matches import Texts, Way
from bartviz.arrays import Bools, Floats
from bartviz.record.attention import Attention, Kind
from bartviz.record.record import Record
from bartviz.text.tokens import Tokens

BLOCK = 1 << 22  # weights held at a time: 16 MB
_TINY = np.float32(1e-30)


@dataclass(frozen=True, eq=False)
class Measured:
    """The measures of all heads of one kind.

    ``values[name]`` is (L, H), NaN if no row counts or the record lacks what it needs; ``even[name]`` the value with
    even weights over the visible keys (NaN if undefined); ``rows[name]`` how many rows were averaged. ``ways`` (L, H):
    whether a head of cross-attention looks for the next word, at the word just read, or neither (``look_ahead``); None
    if that is unknown, and for other kinds.
    """

    kind: Kind
    shape: tuple[int, int]
    values: Mapping[str, Floats]
    even: Mapping[str, float]
    rows: Mapping[str, int]
    ways: Ways | None = None

    def __repr__(self) -> str:
        layers, heads = self.shape
        return f"<{len(self.values)} measures of {self.kind} attention: {layers} layers x {heads} heads>"

    @property
    def defined(self) -> tuple[str, ...]:
        """The measures that have a value for at least one head, in reading order."""
        return tuple(name for name, values in self.values.items() if np.isfinite(values).any())


def of_record(record: Record, kind: Kind) -> Measured:
    """``measures`` of a record's attention; rows of cross-attention are labelled by the token that they predict."""
    query = record.rows(kind)
    texts = word_matches.texts_of(record, kind)
    way = partial(look_ahead.ways, record) if kind == "cross" else None
    return measures(record.attention(kind), query=query, padding=padding(record, kind), texts=texts, way=way)


def padding(record: Record, kind: Kind) -> Bools:
    """(Q,) True for rows that only pad a batch: keys that no row of their own stack may see."""
    own = record.attention("encoder" if kind == "encoder" else "decoder")
    return np.asarray(~own.mask.any(axis=0), np.bool_)


def measures(
    attention: Attention,
    *,
    query: Tokens | None = None,
    padding: Bools | None = None,
    texts: tuple[Texts, Texts] = ((), ()),
    way: Way | None = None,
) -> Measured:
    """Every measure that the kind has, for every head: (L, H) each.

    ``query`` replaces the labels of rows (by what they predict), ``padding`` (Q,) marks rows to leave out; for
    self-attention it is computed. ``texts`` of rows and columns distinguish unknown words, ``way`` returns which way a
    head of cross-attention looks. A row counts if it is neither padding nor a special token and sees at least two keys:
    with a single key the weight is always 1.
    """
    rows = query or attention.query
    if padding is None and attention.kind != "cross":
        padding = np.asarray(~attention.mask.any(axis=0), np.bool_)
    kept = np.ones(len(rows), np.bool_) if padding is None else ~padding
    counts = counted(attention, rows) & kept  # (Q,)
    seen = kept & ~attention.masked_rows
    sums = _Sums(_Cells(attention, rows, seen, texts), counts, seen)
    values, even, number = sums.finish()
    values["share"], even["share"] = _shares(attention, counts), 1 / attention.shape[1]
    number["share"] = int(counts.sum())
    ways: Ways | None = None
    if attention.kind == "cross":
        found = word_matches.alignment(attention, seen, None if rows is attention.query else rows, way)
        values["alignment"], number["alignment"], ways = found.scores, found.words, found.ways
        even["alignment"] = np.nan
    names = [measure.name for measure in of_kind(attention.kind)]
    return Measured(
        attention.kind,
        attention.shape[:2],
        {name: values[name] for name in names},
        {name: even[name] for name in names},
        {name: number[name] for name in names},
        ways,
    )


def counted(attention: Attention, query: Tokens | None = None) -> Bools:
    """(Q,) True for rows that count: not a special token, and at least two visible keys."""
    rows = query or attention.query
    return np.asarray(~rows.special & (attention.mask.sum(axis=1) > 1), np.bool_)


def row_blocks(attention: Attention) -> Iterator[slice]:
    """All rows in blocks, such that the weights of a layer's heads stay within ``BLOCK`` numbers."""
    _, heads, queries, keys = attention.shape
    step = max(1, BLOCK // max(heads * keys, 1))
    for start in range(0, queries, step):
        yield slice(start, min(start + step, queries))


def entropy(weights: NDArray[np.floating]) -> NDArray[np.floating]:
    """(...,) bits of each row of weights (..., K) that sum to 1; 0 log 0 is 0."""
    logs = np.log2(np.maximum(weights, _TINY))
    return np.asarray(-np.einsum("...k,...k->...", weights, logs) + 0.0)


class _Sums:
    """Sums over rows, block by block."""

    def __init__(self, cells: _Cells, counts: Bools, seen: Bools) -> None:
        attention = cells.attention
        self.attention, self.counts, self.seen = attention, counts, seen
        layers, heads, _, keys = attention.shape
        self.sums: dict[str, Floats] = {}
        self.even: dict[str, float] = {}
        self.number: dict[str, int] = {}
        self.columns = np.zeros((layers, heads, keys), np.float64)  # weight that each key got
        self.even_columns = np.zeros(keys, np.float64)
        for rows in row_blocks(attention):
            self._add(rows, cells)

    def _add(self, rows: slice, cells: _Cells) -> None:
        """The rows of one block, in every layer."""
        counts, mask = self.counts[rows], self.attention.mask[rows]
        visible = mask.sum(axis=1)  # (b,)
        even = (mask / np.maximum(visible, 1)[:, None]).astype(np.float32)  # (b, K)
        most = np.log2(np.maximum(visible, 2), dtype=np.float32)  # (b,)
        self.even_columns += self.seen[rows] @ even
        number = int(counts.sum())
        self._expect("entropy", most @ counts, number)
        self._expect("evenness", number, number)
        self._expect("peak", even.max(axis=-1) @ counts, number)
        sums = dict(self._open(cells, rows, even))
        stacked = np.stack([one.ravel() for one in sums.values()], axis=-1)  # (b K, M)
        for layer in range(self.attention.shape[0]):
            weights = self.attention.row_weights(layer, rows)  # (H, b, K)
            bits = entropy(weights)  # (H, b)
            self._put("entropy", layer, bits @ counts)
            self._put("evenness", layer, bits / most @ counts)
            self._put("peak", layer, weights.max(axis=-1) @ counts)
            self.columns[layer] += np.einsum("hbk,b->hk", weights, self.seen[rows].astype(np.float32))
            found = weights.reshape(len(weights), -1) @ stacked  # (H, M)
            for place, name in enumerate(sums):
                self._put(name, layer, found[:, place])

    def _open(self, cells: _Cells, rows: slice, even: Floats) -> Iterator[tuple[str, Floats]]:
        """The factor of each measure, (b, K): 0 where a cell is masked or its row does not count."""
        counts, mask = self.counts[rows], self.attention.mask[rows]
        for name, wanted in cells.block(rows):
            open_cells = wanted * mask
            some = counts & open_cells.any(axis=1)
            open_cells[~some] = 0
            self._expect(name, (even * open_cells).sum(), int(some.sum()))
            yield name, open_cells

    def _expect(self, name: str, even: float, rows: int) -> None:
        self.even[name] = self.even.get(name, 0.0) + float(even)
        self.number[name] = self.number.get(name, 0) + rows

    def _put(self, name: str, layer: int, sums: Floats) -> None:
        self.sums.setdefault(name, np.zeros(self.attention.shape[:2], np.float32))[layer] += sums

    def finish(self) -> tuple[dict[str, Floats], dict[str, float], dict[str, int]]:
        """Means over the rows, and the coverage."""
        nothing = np.full(self.attention.shape[:2], np.nan, np.float32)
        values = {
            name: sums / np.float32(self.number[name]) if self.number[name] else nothing
            for name, sums in self.sums.items()
        }
        even = {name: even / self.number[name] if self.number[name] else np.nan for name, even in self.even.items()}
        rows = int(self.seen.sum())
        keys = self.attention.mask[self.seen].any(axis=0)  # (K,)
        values["coverage"] = _coverage(self.columns[..., keys], rows) if rows else nothing
        even["coverage"] = float(_coverage(self.even_columns[keys], rows)) if rows else np.nan
        return values, even, self.number | {"coverage": rows}


def _coverage(columns: NDArray[np.float64], rows: int) -> Floats:
    """(...,): mean over keys of the weight that each received (..., K), relative to an even share rows / K, at most 1
    each."""
    fair = rows / columns.shape[-1]
    return np.asarray(np.minimum(columns / fair, 1).mean(axis=-1), np.float32)


class _Cells:
    """The cells that a measure sums, (b, K) for any block of rows, or their factors."""

    def __init__(self, attention: Attention, query: Tokens, seen: Bools, texts: tuple[Texts, Texts]) -> None:
        self.attention = attention
        keys = np.asarray(attention.mask[seen].any(axis=0), np.bool_)
        self.ends = _end(seen), _end(keys)  # the line runs between them, not over padding
        self.own = attention.kind != "cross"
        key = attention.key
        self.query_words, self.key_words = word_matches.codes(query, key, *texts)
        self.groups = word_matches.groups(key)
        self.place = np.arange(attention.shape[3])
        self.special = key.special
        self.punctuation = word_matches.punctuation(key, texts[1])

    def block(self, rows: slice) -> Iterator[tuple[str, Floats]]:
        queries, keys = self.ends
        row = np.arange(len(self.query_words))[rows, None]  # (b, 1)
        offset = self.place - row  # (b, K)
        same = self.query_words[rows, None] == self.key_words  # (b, K)
        if self.own:
            same &= self.groups[rows, None] != self.groups
            yield "distance", np.abs(offset).astype(np.float32)
            yield "previous", (offset == -1).astype(np.float32)
            yield "next", (offset == 1).astype(np.float32)
            yield "itself", (offset == 0).astype(np.float32)
        else:
            line = row * ((keys - 1) / max(queries - 1, 1))
            yield "diagonal", (np.abs(line - self.place) <= 1).astype(np.float32)
        yield "same", (same & (self.query_words[rows, None] >= 0)).astype(np.float32)
        other = (offset != 0) | (not self.own)
        yield "first", ((self.place == 0) & other).astype(np.float32)
        yield "special", np.broadcast_to(self.special, offset.shape).astype(np.float32)
        yield "punctuation", (self.punctuation & other).astype(np.float32)


def _end(kept: Bools) -> int:
    """One more than the last index that is kept; 0 if none is."""
    return int(np.flatnonzero(kept)[-1]) + 1 if kept.any() else 0


def _shares(attention: Attention, counts: Bools) -> Floats:
    """(L, H) mean share of each head in its layer's output; NaN for a record without values."""
    values = np.full(attention.shape[:2], np.nan, np.float32)
    if not contributions.available(attention) or not counts.any():
        return values
    for layer in range(len(values)):
        values[layer] = contributions.share(attention, layer)[:, counts].mean(axis=1)
    return values
