"""The measures of ``definitions`` for every head: of a record here, block by block of rows; of a corpus by ``Block``.

Letters in shapes: B texts, L layers, H heads, Q query rows, K key columns, b rows of a block, M measures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from array_api_compat import array_namespace, device
from numpy.typing import NDArray

from bartviz.analysis import contributions, look_ahead, word_matches
from bartviz.analysis.head_measures import OfCells, OfColumns, OfPattern, OfRows, OfWords, of_kind
from bartviz.analysis.look_ahead import Directions
from bartviz.analysis.measure_inputs import Cells, Received, Weights, mean
from bartviz.analysis.mutual import OnWords
from bartviz.analysis.pattern_masks import side_of
from bartviz.analysis.word_matches import Texts
from bartviz.arrays import Array, Bools, Floats
from bartviz.patterns.pair import Pair
from bartviz.record.attention import Attention, Kind
from bartviz.record.record import Record
from bartviz.text.tokens import Tokens

if TYPE_CHECKING:
    import pandas as pd

BLOCK = 1 << 22  # weights held at a time: 16 MB


class Block:
    """Some rows of B texts, and what the measures of a kind sum over them, for NumPy and torch alike.

    ``names``: the N measures of patterns, of cells and of rows. ``rows`` (B, N, Q): 1 for the rows that count for
    each, else 0, and ``number`` (B, N) how many they are.
    """

    def __init__(self, kind: Kind, cells: Cells, dtype: object) -> None:
        xp = array_namespace(cells.mask)
        self.cells, self.dtype = cells, dtype
        self.seen, self.counts = xp.astype(cells.seen, dtype), xp.astype(cells.counts, dtype)
        known = {one.name: one.compute for one in of_kind(kind)}
        marks = {
            name: how.pattern.mask(cells.pair, cells.rows) for name, how in known.items() if isinstance(how, OfPattern)
        }
        linear = {name: how.function(cells) for name, how in known.items() if isinstance(how, OfCells)}
        by_row = {name: how.function for name, how in known.items() if isinstance(how, OfRows)}
        self.names, self.by_row = (*marks, *linear, *by_row), tuple(by_row.values())
        factors = xp.stack(
            [xp.broadcast_to(xp.astype(one, dtype), cells.mask.shape) for one in (*marks.values(), *linear.values())],
            axis=1,
        )  # (B, M, Q, K)
        ones = xp.ones(factors.shape[-1], dtype=dtype, device=device(factors))
        factors[:, len(marks) :] *= xp.astype(cells.mask, dtype)[:, None]
        total = factors @ ones  # (B, M, Q)
        choice = (total[:, : len(marks)] < xp.astype(cells.visible, dtype)[:, None]) & cells.seen[:, None]
        may = xp.concat([choice, *[cells.counts[:, None]] * len(linear)], axis=1)
        some = xp.astype((total > 0) & may, dtype)
        factors *= some[..., None]
        self.rows = xp.concat([some, *[self.counts[:, None]] * len(by_row)], axis=1)
        self.number = xp.sum(self.rows, axis=-1)
        self.factors = xp.matrix_transpose(xp.reshape(factors, (*factors.shape[:2], -1)))  # (B, Q K, M)

    def even(self, heads: int) -> Weights:
        """One head (B, 1, Q, K) that looks evenly at all that it may see, and ``heads`` equal ones in its layer."""
        xp, mask = array_namespace(self.cells.mask), self.cells.mask
        most = xp.where(self.cells.visible > 0, self.cells.visible, 1)
        weights = xp.astype(mask, self.dtype) / xp.astype(most, self.dtype)[..., None]
        lengths = xp.ones((mask.shape[0], heads, mask.shape[1]), dtype=self.dtype, device=device(mask))
        return Weights(self.cells, weights[:, None], lengths=lengths)

    def sums(self, weights: Weights) -> Array:
        """(B, H, N) the sum over the rows that count."""
        xp = array_namespace(weights.weights)
        cells = xp.reshape(weights.weights, (*weights.weights.shape[:2], -1)) @ self.factors  # (B, H, M)
        rows = xp.stack([function(weights) for function in self.by_row], axis=-2) @ self.counts[:, None, :, None]
        return xp.concat([cells, rows[..., 0]], axis=-1)

    def received(self, weights: Weights) -> Array:
        """(B, H, K) the weight that each column gets."""
        return (self.seen[:, None, None] @ weights.weights)[:, :, 0]


def of_columns(kind: Kind, received: Received) -> dict[str, Array]:
    """(B, H) for each measure of columns."""
    return {one.name: one.compute.function(received) for one in of_kind(kind) if isinstance(one.compute, OfColumns)}


def of_words(kind: Kind, words: OnWords) -> dict[str, Array]:
    """(B, H) for each measure of words."""
    return {one.name: one.compute.function(words) for one in of_kind(kind) if isinstance(one.compute, OfWords)}


@dataclass(frozen=True, eq=False)
class Measured:
    """The measures of all heads of one kind.

    ``values[name]`` is (L, H), NaN if no row counts or the record lacks what it needs; ``even[name]`` the value with
    even weights over the visible keys (NaN if undefined); ``rows[name]`` how many rows were averaged.
    ``directions`` (L, H): whether a head of cross-attention looks for the next word, at the word just read, or neither
    (``look_ahead``); None if that is unknown, and for other kinds.
    """

    kind: Kind
    shape: tuple[int, int]
    values: Mapping[str, Floats]
    even: Mapping[str, float]
    rows: Mapping[str, int]
    directions: Directions | None = None

    def __repr__(self) -> str:
        layers, heads = self.shape
        return f"<{len(self.values)} measures of {self.kind} attention: {layers} layers x {heads} heads>"

    @property
    def defined(self) -> tuple[str, ...]:
        """The measures that have a value for at least one head, in reading order."""
        return tuple(name for name, values in self.values.items() if np.isfinite(values).any())

    def to_dataframe(self) -> pd.DataFrame:
        """A line for each head and measure: kind, layer, head, measure, value, even, rows."""
        import pandas as pd

        layer, head = (index.ravel() for index in np.indices(self.shape))
        lines = [
            {"kind": self.kind, "layer": layer, "head": head, "measure": name, "value": values.ravel()}
            | {"even": self.even[name], "rows": self.rows[name]}
            for name, values in self.values.items()
        ]
        return pd.concat([pd.DataFrame(line) for line in lines], ignore_index=True)


def of_record(record: Record, kind: Kind) -> Measured:
    """``measures`` of a record's attention; rows of cross-attention are labelled by the token that they predict."""
    return measures(
        record.attention(kind),
        query=record.rows(kind),
        padding=padding(record, kind),
        texts=word_matches.texts_of(record, kind),
        ended=look_ahead.ended(record),
    )


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
    ended: bool = True,
) -> Measured:
    """Every measure that the kind has, for every head: (L, H) each.

    ``query`` replaces the labels of rows (by what they predict), ``padding`` (Q,) marks rows to leave out; for
    self-attention it is computed. ``texts`` of rows and columns distinguish unknown words, ``ended`` says whether the
    output is complete. A row counts if it is neither padding nor a special token and sees at least two keys: with a
    single key the weight is always 1.
    """
    rows, kind = query or attention.query, attention.kind
    if padding is None and kind != "cross":
        padding = np.asarray(~attention.mask.any(axis=0), np.bool_)
    kept = np.ones(len(rows), np.bool_) if padding is None else ~padding
    seen = kept & ~attention.masked_rows
    found = _over_rows(attention, rows, counted(attention, rows) & kept, seen, texts)
    directions: Directions | None = None
    if kind == "cross":
        words, directions = _over_words(attention, seen, None if rows is attention.query else rows, ended)
        found |= words
    ordered = {measure.name: found[measure.name] for measure in of_kind(kind)}
    return Measured(
        kind,
        attention.shape[:2],
        {name: values.astype(np.float32) for name, (values, _, _) in ordered.items()},
        {name: even for name, (_, even, _) in ordered.items()},
        {name: number for name, (_, _, number) in ordered.items()},
        directions,
    )


_One: TypeAlias = tuple[NDArray[np.floating], float, int]
"""Of one measure: the values (L, H), the value of even weights, and how many rows count."""


def _over_rows(
    attention: Attention, query: Tokens, counts: Bools, seen: Bools, texts: tuple[Texts, Texts]
) -> dict[str, _One]:
    """The measures of cells, rows and columns."""
    layers, heads, _, columns = attention.shape
    sums, even, number, names = np.zeros((layers, heads, 1), np.float32), np.zeros(1), np.zeros(1), tuple[str, ...]()
    received, even_received = np.zeros((layers, heads, columns)), np.zeros((1, 1, columns))
    lengths = contributions.lengths(attention) if contributions.available(attention) else None
    for part, cells in _blocks(attention, query, counts, seen, texts):
        block = Block(attention.kind, cells, np.float32)
        evenly = block.even(heads)
        even_received += block.received(evenly)
        even, number, names = even + block.sums(evenly)[0, 0], number + block.number[0], block.names
        sums = sums + np.zeros(len(names), np.float32)
        for layer in range(layers):
            added = None if lengths is None else lengths[layer][None, :, part]
            weights = Weights(cells, attention.row_weights(layer, part)[None], lengths=added)
            received[layer] += block.received(weights)[0]
            sums[layer] += block.sums(weights)[0]
    values, evens = mean(sums, number), mean(even, number)
    found: dict[str, _One] = {
        name: (values[..., place], float(evens[place]), int(number[place])) for place, name in enumerate(names)
    }
    keys, giving = np.atleast_2d(attention.mask[seen].any(axis=0)), np.array([seen.sum()])
    of_even = of_columns(attention.kind, Received(even_received, keys, giving))
    for name, of_heads in of_columns(attention.kind, Received(received, keys, giving)).items():
        found[name] = of_heads, float(of_even[name][0, 0]), int(giving[0])
    return found


def _over_words(
    attention: Attention, seen: Bools, predicts: Tokens | None, ended: bool
) -> tuple[dict[str, _One], Directions | None]:
    """The measures of words, and which way heads look."""
    shape, count = attention.shape[:2], 0
    found = {one.name: np.full(shape, np.nan) for one in of_kind(attention.kind) if isinstance(one.compute, OfWords)}
    directions = np.zeros(shape, np.int8)
    known = False
    for layer, heads, words, looks in word_matches.on_words(attention, seen, predicts, ended=ended):
        count, known = words.predicts.shape[1], looks is not None
        directions[layer, heads] = 0 if looks is None else looks[0]
        for name, values in of_words(attention.kind, words).items():
            found[name][layer, heads] = values[0]
    return {name: (values, np.nan, count) for name, values in found.items()}, directions if known else None


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


def _blocks(
    attention: Attention, query: Tokens, counts: Bools, seen: Bools, texts: tuple[Texts, Texts]
) -> Iterator[tuple[slice, Cells]]:
    """The rows of each block, and its cells, of one text."""
    keys = np.asarray(attention.mask[seen].any(axis=0), np.bool_)
    known: dict[str, int] = {}
    # the diagonal runs between the ends of the texts, not over padding
    rows_of = side_of(query, texts[0], known).batch(_end(seen))
    columns = side_of(attention.key, texts[1], known).batch(_end(keys)) if attention.kind == "cross" else rows_of
    pair = Pair(attention.kind, rows_of, columns, rows_of, attention.mask[None])
    for rows in row_blocks(attention):
        yield rows, Cells(pair, seen[None, rows], counts[None, rows], rows)


def _end(kept: Bools) -> NDArray[np.int64]:
    """(1,) one more than the last index that is kept; 0 if none is."""
    return np.flatnonzero(kept)[-1:] + 1 if kept.any() else np.zeros(1, np.int64)
