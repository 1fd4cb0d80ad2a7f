"""How much weight each head puts on the marks of a pattern, text by text, while one pass runs.

Letters in shapes: B texts of a batch, L layers, H heads, Q query rows, K key columns, n tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bartviz.analysis import pattern_masks
from bartviz.arrays import Bools
from bartviz.callbacks import never
from bartviz.corpus import encode
from bartviz.corpus.batch_measures import scores_of
from bartviz.corpus.edges import sides_of
from bartviz.corpus.encode import Encoded
from bartviz.corpus.measure import padded, run
from bartviz.models.model import Model
from bartviz.patterns.pair import Pair, Side, Tree, written_words
from bartviz.record.attention import Kind
from bartviz.tape.tape import Tape, depths
from bartviz.text.labels import CONTINUES

Masks = Mapping[Kind, Bools]
Slot = tuple[int, Kind]
"""The number of a pattern, and a kind of attention for which it has a meaning."""
SHARE, SHUFFLED, ABOVE = range(3)
"""The columns of what is measured: the weight on marks, on the marks of other rows, and the first less the second."""


@dataclass(frozen=True, eq=False)
class Marks:
    """Of one text: the marks of a pattern (Q, K), among the keys that a row sees (Q, K)."""

    marks: Bools
    visible: Bools


@dataclass(frozen=True, eq=False)
class Weighing:
    """What the weights (..., Q, K) of a head are multiplied with, and added up, for each text: ``factors``
    (..., 3, Q, K) for SHARE, SHUFFLED and ABOVE; ``even`` (...,) is the share of even attention; ``rows`` (..., Q)
    those that count, ``others`` (..., Q) those without a mark. The dots are the texts of a batch, or nothing.

    A row counts if the pattern marks some of the keys that it sees, and not all. Rows have the same part in the mean.
    """

    factors: NDArray[np.float32]
    even: NDArray[np.float64]
    rows: Bools
    others: Bools

    @classmethod
    def of(cls, marks: Bools, visible: Bools) -> Weighing:
        """From the marks of a pattern (..., Q, K) among the keys that a row sees. NaN where no row counts.

        Shuffled: a row has the marks of the other rows, in turn: of those whose marks differ from its own, and which
        it sees as well. So a head that looks somewhere whatever the row is has as much weight there.
        """
        marked, seen = marks.sum(axis=-1), visible.sum(axis=-1)  # (..., Q)
        rows = (marked > 0) & (marked < seen)
        flat, marked = marks.astype(np.float32), marked.astype(np.float32)
        both = flat @ flat.swapaxes(-1, -2)  # (..., Q, Q) marks in common
        differ = (both < marked[..., None]) | (both < marked[..., None, :])
        # of row q, the marks of row r
        seen_too = visible.astype(np.float32) @ flat.swapaxes(-1, -2) >= marked[..., None, :]
        others = (differ & seen_too & rows[..., None] & rows[..., None, :]).astype(np.float32)  # (..., Q, Q)
        number = others.sum(axis=-1)
        compared = (number > 0).astype(np.float32)
        every = (1 / np.maximum(compared.sum(axis=-1), 1))[..., None]  # (..., 1)
        share = flat * (rows / np.maximum(rows.sum(axis=-1), 1)[..., None])[..., None]
        shuffled = (others * (every / np.maximum(number, 1))[..., None]) @ flat
        factors = np.empty((*marks.shape[:-2], 3, *marks.shape[-2:]), np.float32)
        factors[..., SHARE, :, :], factors[..., SHUFFLED, :, :] = share, shuffled
        factors[..., ABOVE, :, :] = flat * (compared * every)[..., None] - shuffled
        factors[~rows.any(axis=-1)] = np.nan
        factors[~compared.any(axis=-1), SHUFFLED:] = np.nan
        even = np.where(rows, marked / np.maximum(seen, 1), 0.0).sum(axis=-1)
        count = rows.sum(axis=-1)
        even = np.where(count > 0, even / np.maximum(count, 1), np.nan)
        return cls(factors, even, rows, (marked == 0) & (seen > 0))


def pairs(row: Encoded, kinds: Sequence[Kind]) -> dict[Kind, Pair]:
    """The rows and columns of a text, for these kinds of attention."""
    source = _side(row.source, row.labels.get("source", ()), row)
    target = None if row.inputs is None else _side(row.inputs, row.labels.get("inputs", ()))
    output = None if row.output is None else _side(row.output, row.labels.get("output", ()))
    known = {"source": source, "inputs": target, "output": output}
    found = {}
    for kind in kinds:
        query_name, key_name = sides_of(kind, target is not None)
        query, key = known[query_name], known[key_name]
        assert query is not None
        assert key is not None
        reads = target if kind == "cross" and target is not None else query
        mask = np.ones((len(query), len(key)), np.bool_)
        links = None if row.gold is None or kind != "cross" else pattern_masks.links_of(row.gold, query, key)
        found[kind] = Pair(kind, query, key, reads, np.tril(mask) if kind == "decoder" else mask, links)
    return found


def _side(tokens: encode.Side, labels: tuple[str, ...], row: Encoded | None = None) -> Side:
    """The tokens of a text; ``row`` for the source, to which the columns and the tree belong."""
    tree = None
    if row is not None and row.tree is not None:
        arcs, members = row.tree
        tree = Tree(np.array([arc[2] for arc in arcs], np.int64), tuple(arc[3] for arc in arcs), members)
    return Side(
        ids=tokens.ids,
        special=tokens.special != 0,
        punctuation=tokens.punctuation != 0,
        groups=tokens.groups,
        words=tokens.words,
        codes=tokens.codes,
        labels=labels,
        written=written_words(labels, tokens.groups, CONTINUES) if labels else (),
        columns={} if row is None else row.columns,
        tree=tree,
        annotated=row is not None,
    )


class _AllMeasured(Exception):
    """Ends a pass after the last attention that is measured."""


@dataclass(frozen=True, eq=False)
class Shares:
    """``values`` (B, L, H, 3): SHARE, SHUFFLED and ABOVE of every head; ``even`` (B,): the share of even attention."""

    values: NDArray[np.float32]
    even: NDArray[np.float64]


def shares(
    model: Model, rows: Sequence[Encoded], marks: Sequence[Mapping[Slot, Marks]], cancelled: Callable[[], bool] = never
) -> dict[Slot, Shares]:
    """What every head has of each pattern, for texts that fit one batch."""
    slots = tuple(marks[0])
    kinds = {kind for _, kind in slots}
    found: dict[Slot, list[Tensor]] = {slot: [] for slot in slots}
    weighings = {slot: weighing([one[slot] for one in marks]) for slot in slots}
    with model.creating():
        source, inputs, _output = padded(model, rows)
        factors: dict[Slot, Tensor] = {}
        left = sum(depth for kind, depth in depths(model.network).items() if kind in kinds)

        def kernel(tape: Tape, kind: Kind, layer: int) -> Tensor:
            nonlocal left
            weights = scores_of(tape, kind, layer).softmax(dim=-1)  # (B, H, Q, K)
            entry = tape.entries.pop((kind, layer))
            assert entry.v is not None
            for slot in slots:
                if slot[1] == kind:
                    if slot not in factors:
                        factors[slot] = torch.from_numpy(weighings[slot].factors).to(weights).flatten(2).mT
                    found[slot].append(weights.flatten(2) @ factors[slot])  # (B, H, 3)
            left -= kind in kinds
            if left == 0:
                raise _AllMeasured
            return (weights @ entry.v).transpose(1, 2).contiguous()

        with suppress(_AllMeasured):
            run(model, source, inputs, Tape(kernel=kernel, cancelled=cancelled))
    return {
        slot: Shares(torch.stack(layers, dim=1).cpu().numpy(), weighings[slot].even) for slot, layers in found.items()
    }


def weighing(marks: Sequence[Marks]) -> Weighing:
    """Of the texts of a batch, padded to the longest: nothing is marked or seen at the padding."""
    shapes = np.array([one.marks.shape for one in marks]).max(axis=0)
    padded_marks = np.zeros((2, len(marks), *shapes), np.bool_)
    for text, one in enumerate(marks):
        rows, columns = one.marks.shape
        padded_marks[0, text, :rows, :columns] = one.marks
        padded_marks[1, text, :rows, :columns] = one.visible
    return Weighing.of(*padded_marks)
