"""The heads that the lessons show, found in their records by what they do: training puts them elsewhere each time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce, wraps
from typing import TypeVar
from weakref import finalize

import numpy as np

from bartviz.analysis import aligners, contributions, start
from bartviz.features.lessons import facts
from bartviz.features.lessons.lesson import Value, View
from bartviz.language import _
from bartviz.record.attention import Kind
from bartviz.record.record import Reading, Record

Place = tuple[int, int]  # layer, head
T = TypeVar("T")


def once(find: Callable[[Record], T]) -> Callable[[Record], T]:
    """``find``, which looks through a record only once as long as that record is kept: each text of a step asks again.

    What it finds must not depend on the visitor's language.
    """
    known: dict[int, T] = {}

    @wraps(find)
    def found(record: Record) -> T:
        place = id(record)
        if place not in known:
            known[place] = find(record)
            finalize(record, known.pop, place, None)
        return known[place]

    return found


def at(find: Callable[[Record], Place], **view: Value) -> Callable[[Record], View]:
    """A view of the head that ``find`` names."""

    def shown(record: Record) -> View:
        layer, head = find(record)
        return {**view, "layer": layer, "head": head}

    return shown


@once
def head_of(record: Record) -> Place:
    """The cross head that the start page shows: one sentence is shown with one head."""
    head = start.head_of(record, "cross")
    return head.layer, head.head


@once
def ahead(record: Record) -> Place:
    """The cross head that aligns best with the word to come."""
    return _aligning(record, "predicts")


@once
def back(record: Record) -> Place:
    """The cross head that aligns best with the word just read."""
    return _aligning(record, "reads")


def neighbour(record: Record, by: int) -> Place:
    """The encoder head with the largest share of weight ``by`` tokens ahead."""
    return _most(record, "encoder", _goes(record, by))


@once
def neighbours(record: Record) -> tuple[Place, Place]:
    """Two encoder heads of one layer: the one that looks most at the token before, and that which does at the next.

    The layer is the one where the less clear of the two is clearest.
    """
    layers, heads = record.attention("encoder").shape[:2]
    found: list[tuple[float, Place, Place]] = []
    for layer in range(layers):
        best = [max((_goes(record, by)(layer, head), head) for head in range(heads)) for by in (-1, 1)]
        found.append((min(best)[0], (layer, best[0][1]), (layer, best[1][1])))
    _least, before, after = max(found)
    return before, after


def row_to(record: Record, head: Place, by: int) -> int:
    """The encoder's row of a word that gives most of its weight to the token ``by`` further on."""
    key, weights = record.attention("encoder").key, facts.weights(record, "encoder", *head)
    rows = [row for row in range(len(key)) if 0 <= row + by < len(key) and not key.special[row]]
    return max(rows or [0], key=lambda row: float(weights[row, row + by]))


@once
def resting(record: Record) -> Place:
    """The encoder head with most weight on special tokens."""
    return _most(record, "encoder", lambda layer, head: facts.special_share(record, "encoder", layer, head))


def listed(names: Sequence[str]) -> str:
    """Names in one phrase: "ein and Auto"."""
    return reduce(lambda one, other: _("{one} and {other}", one=one, other=other), names)


def surest(record: Record, row: int, column: int) -> Place:
    """The cross head with most weight on a token of the source in a row."""
    return _most(record, "cross", lambda layer, head: float(facts.weights(record, "cross", layer, head)[row, column]))


def hollow(record: Record, row: int) -> Place:
    """The encoder head whose row looks most at one token while another contributes more, by the largest difference."""
    attention = record.attention("encoder")

    def gap(layer: int, head: int) -> float:
        weights = attention.head(layer, head)[row]  # (K,)
        lengths = contributions.norms(attention, layer, head)[row]  # (K,)
        best = int(weights.argmax())
        return float(weights[best] - lengths[best] / lengths.sum()) if best != lengths.argmax() else -1.0

    return _most(record, "encoder", gap)


def _aligning(record: Record, reading: Reading) -> Place:
    (head,) = aligners.best(aligners.aligners(record), reading).heads
    return head.layer, head.head


def _goes(record: Record, by: int) -> Callable[[int, int], float]:
    return lambda layer, head: facts.goes(facts.weights(record, "encoder", layer, head), by)["share"]


def _most(record: Record, kind: Kind, measure: Callable[[int, int], float]) -> Place:
    """The head with the largest measure."""
    layers, heads = record.attention(kind).shape[:2]
    values = np.array([[measure(layer, head) for head in range(heads)] for layer in range(layers)])  # (L, H)
    layer, head = np.unravel_index(int(values.argmax()), values.shape)
    return int(layer), int(head)
