"""What answers the question of a step: a spot of its picture that is touched, a choice, a number, or a painted guess.

All of it is computed from the step's record, and so is what is said of each wrong answer. The words are in the text of
the step (``texts.py``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from bartviz.arrays import Bools, Floats
from bartviz.features.lessons import facts
from bartviz.record.attention import Kind
from bartviz.record.record import Record
from bartviz.record.steps import Step

Facts: TypeAlias = Mapping[str, object]
# What a picture says of a touch: {"row": 1, "column": 2}, {"above": 3, "label": "buy"}, {"candidate": "will"} ...
Touched: TypeAlias = Mapping[str, object]
Side = Literal["above", "below", "row", "column", "cell", "head", "candidate", "frame", "point"]
OTHER_HEAD, OTHER_SIDE, UNPAINTED = "other head", "other side", "unpainted"  # touches that are no answer
RIGHT = "yes"
CLOSE = 0.7  # from this shared weight on a painted guess is close
MOST_PAINT = 4  # how often a word can be painted over


@dataclass(frozen=True, slots=True)
class Spot:
    """Something of the picture that can be touched. ``label`` names it in the list of a keyboard's user.

    ``values`` fill in what is said of it, together with the facts of the step; ``case`` is the name of that sentence in
    the text of the step.
    """

    label: str
    right: bool
    values: Facts = field(default_factory=dict)
    case: str = "no"


@dataclass(frozen=True, slots=True)
class Touch:
    """A spot of the picture answers, found by its number on one ``side``, or by its label where it has no number."""

    side: Side
    spots: Callable[[Record], Sequence[Spot]]

    def found(self, record: Record, said: Touched, view: Mapping[str, object]) -> Spot | str:
        """The spot that was touched; or why the touch is none: ``OTHER_HEAD``, ``OTHER_SIDE``."""
        spots = self.spots(record)
        if self.side != "head" and any(_differs(said, view, name) for name in ("kind", "layer", "head")):
            return OTHER_HEAD
        number = _number(said, self.side, spots)
        return OTHER_SIDE if number is None or not 0 <= number < len(spots) else spots[number]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the options in the text of the step; a line with a plus is right."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number that is typed. ``within``: how far from ``value`` it may be, in shares of it; ``percent``: in %;
    ``share``: of a whole of 1, and right in % too."""

    value: Callable[[Record], float]
    within: float = 0.02
    percent: bool = False
    share: bool = False

    def judged(self, record: Record, typed: float) -> Spot:
        wanted = self.value(record) * (100 if self.percent else 1)
        ways = (wanted, 100 * wanted) if self.share else (wanted,)
        right = any(math.isclose(typed, way, rel_tol=self.within, abs_tol=1e-9) for way in ways)
        return Spot(f"{typed:g}", right, {"typed": f"{typed:g}"}, "low" if typed < wanted else "high")


@dataclass(frozen=True, slots=True)
class Painted:
    """The weights of one row, guessed by painting over its words before the picture shows them.

    ``line``: the weights (K,), which sum to 1, the labels, and which columns are open.
    """

    line: Callable[[Record], Line]

    def shares(self, record: Record, said: object) -> tuple[float, ...] | str:
        """The shares (K,) of what was painted, ``{"painted": levels}``; they sum to 1. ``UNPAINTED`` where nothing
        was, or it is not of this row."""
        levels = said.get("painted") if isinstance(said, Mapping) else None
        count = len(self.line(record).weights)
        if not isinstance(levels, list) or len(levels) != count:
            return UNPAINTED
        if not all(type(level) is int and 0 <= level <= MOST_PAINT for level in levels) or not any(levels):
            return UNPAINTED
        return tuple(level / sum(levels) for level in levels)

    def judged(self, record: Record, guess: Sequence[float]) -> Spot:
        """The guess beside the weights. Its one number ``shared`` is the weight that both have, 1 minus the total
        variation distance of the two. Its cases: ``yes``, close; ``closed``, some of it on closed columns; ``even``
        or ``narrow``, most of it on the right word, but too little or too much; ``no``, elsewhere.
        """
        line = self.line(record)
        painted = np.array(guess)  # (K,)
        shared = float(np.minimum(painted, line.weights).sum())
        best, most = int(line.weights.argmax()), int(painted.argmax())
        lost = float(painted[~line.open].sum())
        case = "even" if painted[best] < line.weights[best] else "narrow"
        if painted[best] < painted[most]:
            case = "no"
        if lost > 0:
            case = "closed"
        if shared >= CLOSE:
            case = RIGHT
        values = {
            "shared": shared,
            "best": line.labels[best],
            "best_weight": float(line.weights[best]),
            "guessed": float(painted[best]),
            "most": line.labels[most],
            "most_weight": float(line.weights[most]),
            "lost": lost,
        }
        return Spot(line.labels[most], case == RIGHT, values, case)


class Line(NamedTuple):
    """A row of a head: its weights (K,), the labels of the columns, and which are open (K,)."""

    weights: Floats
    labels: Sequence[str]
    open: Bools


def row_of(record: Record, kind: Kind, head: tuple[int, int], row: int) -> Line:
    """A row of one head, to be guessed."""
    attention = record.attention(kind)
    return Line(facts.weights(record, kind, *head)[row], attention.key.labels, attention.mask[row])


Answer: TypeAlias = Touch | Choice | Number | Painted


def _differs(said: Touched, view: Mapping[str, object], name: str) -> bool:
    return name in said and name in view and said[name] != view[name]


def _number(said: Touched, side: Side, spots: Sequence[Spot]) -> int | None:
    """The number of the spot; a cell counts row by row, so does a head of all layers."""
    by_label = side in ("above", "below", "point") and side in {*said, "point"}
    if isinstance(label := said.get("label") if by_label else said.get(side), str):
        named = [number for number, spot in enumerate(spots) if spot.label == label]
        if named:
            return next((number for number in named if spots[number].right), named[0])
    if side == "cell":
        return _pair(said, "row", "column", spots)
    if side == "head":
        return _pair(said, "layer", "head", spots) if said.get("what") == "head" else None
    found = said.get(side)
    return found if type(found) is int and side not in ("above", "below") else None


def _pair(said: Touched, first: str, second: str, spots: Sequence[Spot]) -> int | None:
    asked = said.get(first), said.get(second)
    if not all(type(one) is int for one in asked):
        return None
    pairs = [(spot.values.get(first), spot.values.get(second)) for spot in spots]
    return pairs.index(asked) if asked in pairs else None


def strongest(line: Floats, labels: Sequence[str]) -> list[Spot]:
    """The tokens or words of one line of numbers, the largest of which answers."""
    return _best(line, labels, line.max())


def weakest(line: Floats, labels: Sequence[str]) -> list[Spot]:
    """The same, where the smallest answers."""
    return _best(line, labels, line.min())


def _best(line: Floats, labels: Sequence[str], best: float) -> list[Spot]:
    return [
        Spot(label, bool(value == best), {"touched": label, "value": float(value)})
        for label, value in zip(labels, line, strict=True)
    ]


def cells_of_row(weights: Floats, rows: Sequence[str], columns: Sequence[str], row: int) -> list[Spot]:
    """The cells of a map, of which the strongest in one row answers; those of other rows are the case ``row``."""
    best = weights[row].max()
    return [
        Spot(
            f"{name} · {column}",
            bool(at == row and weights[at, key] == best),
            {"row": at, "column": key, "in_row": name, "touched": column, "value": float(weights[at, key])},
            "no" if at == row else "row",
        )
        for at, name in enumerate(rows)
        for key, column in enumerate(columns)
    ]


def looked_at(kind: Kind, head: Callable[[Record], tuple[int, int]], row: int) -> Touch:
    """The token that a row of a head looks at most."""

    def spots(record: Record) -> list[Spot]:
        line = facts.weights(record, kind, *head(record))[row]  # (K,)
        return strongest(line, record.attention(kind).key.labels)

    return Touch("column", spots)


def second(step: Step) -> list[Spot]:
    """The candidates of a step, of which the best that was not chosen answers; the chosen one is the case ``first``."""
    rivals = [one for one in step.candidates if one.token_id != step.chosen.token_id]
    return [
        Spot(
            one.label,
            one is rivals[0],
            {"touched": one.label, "value": one.probability},
            "first" if one.token_id == step.chosen.token_id else "no",
        )
        for one in step.candidates
    ]
