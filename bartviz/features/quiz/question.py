"""Questions and the tools that all question makers need: the record's numbers, and options in random order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bartviz.analysis import parameters
from bartviz.analysis.measures import Measured, of_record
from bartviz.analysis.parameters import Parameter
from bartviz.arrays import Floats
from bartviz.families.catalogue import entry
from bartviz.families.registry import FAMILIES
from bartviz.language import later, mark
from bartviz.record.attention import Attention, Kind
from bartviz.record.record import Record

MOST = 4
"""Options of a question, at most."""
TRIES = 60
"""Draws of a head, a row or a step before a maker returns None."""
LETTERS = "ABCD"
READ_SO = mark("A row looks at columns: the fuller the colour, the larger the weight.")
WIDEST = 16
"""Rows and columns that a reader can compare."""


@dataclass(frozen=True, slots=True)
class Option:
    """One answer that is offered. ``says`` is shown to a reader who chooses it; ``fact`` is its value for programs: a
    head's short name, a position, a number, a name."""

    text: str
    says: str
    fact: object


@dataclass(frozen=True)
class Grid:
    """A table of numbers, rows by columns; None is the number that is asked for.

    ``kind``: the attention in whose colour it is shaded; None for grey, where the kind is what is asked. ``digits``:
    whether numbers are written, or cells are only shaded (a weight of 1 in full colour). ``title``: its name if there
    are several.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[float | None, ...], ...]
    kind: Kind | None
    digits: bool = True
    title: str = ""


@dataclass(frozen=True)
class Question:
    """One question about a record, with one right option: ``options[answer]``.

    ``prompt``, ``why`` and the texts of options are messages (``language.later``), which ``_`` translates to the
    current language. ``page`` and ``query`` show the answer; ``about`` names the subject, for programs.
    """

    kind: str
    prompt: str
    options: tuple[Option, ...]
    answer: int
    why: str
    page: str
    query: Mapping[str, str] = field(default_factory=dict)
    grids: tuple[Grid, ...] = ()
    about: Mapping[str, object] = field(default_factory=dict)

    @property
    def right(self) -> Option:
        return self.options[self.answer]


@dataclass(frozen=True)
class Material:
    """A record, and values that several makers need, computed once."""

    record: Record
    _measured: dict[Kind, Measured] = field(default_factory=dict)

    def measured(self, kind: Kind) -> Measured:
        """The measures of every head of a kind."""
        if kind not in self._measured:
            self._measured[kind] = of_record(self.record, kind)
        return self._measured[kind]

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Every matrix of the record's model; empty if its configuration is not in the catalogue."""
        known = entry(self.record.model.name)
        if known is None:
            return ()
        named = self.record.model.architecture
        return parameters.rows(known.config, named if named in FAMILIES[known.family].variants else None)


Maker = Callable[[Material, Generator], Question | None]


def shuffled(random: Generator, right: Option, wrong: Sequence[Option]) -> tuple[tuple[Option, ...], int]:
    """The right option and at most three wrong ones in random order, and the index of the right one."""
    options = [right, *wrong[: MOST - 1]]
    order = random.permutation(len(options))
    return tuple(options[place] for place in order), int(np.flatnonzero(order == 0)[0])


def in_order(right: Option, wrong: Sequence[Option]) -> tuple[tuple[Option, ...], int]:
    """The right option and the wrong ones in the order of their texts, as their pictures, and the index of the right
    one."""
    options = sorted([right, *wrong[: MOST - 1]], key=lambda option: option.text)
    return tuple(options), options.index(right)


def drawn(random: Generator, things: Iterable[int], most: int) -> list[int]:
    """At most ``most`` of the things, in random order."""
    every = list(things)
    return [every[place] for place in random.permutation(len(every))[:most]]


def any_attention(record: Record, random: Generator) -> Attention:
    """The attention of a kind drawn at random."""
    return record.attention(record.kinds[int(random.integers(len(record.kinds)))])


def listed(messages: Sequence[str]) -> str:
    """Messages joined by commas, each translated when it is shown."""
    return reduce(lambda before, one: later("{before}, {one}", before=before, one=one), messages)


def plain(label: str) -> str:
    """A label without case and white space, to compare tokens as a reader does."""
    return label.strip().casefold()


def small(record: Record, kind: Kind, weights: Floats, title: str = "") -> tuple[Grid, ...]:
    """One map as a picture without digits; empty if it has more rows or columns than a reader can compare.

    Rows of cross-attention are labelled by the token that they predict.
    """
    if max(weights.shape) > WIDEST:
        return ()
    cells = tuple(tuple(round(float(weight), 3) for weight in row) for row in weights)
    rows = record.rows(kind)
    return (Grid(rows.labels, record.attention(kind).key.labels, cells, kind, digits=False, title=title),)


def alone(labels: Sequence[str]) -> NDArray[np.bool_]:
    """(n,) True for labels that are visible and unique."""
    seen = [plain(label) for label in labels]
    return np.array([bool(label) and seen.count(label) == 1 for label in seen], np.bool_)


def hundredths(weights: NDArray[np.floating]) -> list[float]:
    """Weights (n,) that sum to 1, rounded to two decimals that sum to 1.00 too (largest remainders)."""
    exact = np.asarray(weights, np.float64) * 100  # (n,)
    whole = np.floor(exact + 1e-9)  # (n,)
    missing = round(float(exact.sum())) - int(whole.sum())
    for place in np.argsort(whole - exact, kind="stable")[: max(missing, 0)]:
        whole[place] += 1
    return [float(value) / 100 for value in whole]
