"""Questions and the tools that all question makers need: the record's numbers, and options in random order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bartviz.analysis import parameters
from bartviz.analysis.masks import quote
from bartviz.analysis.measures import Measured, of_record
from bartviz.analysis.parameters import Parameter
from bartviz.analysis.start import Ribbons, ribbons
from bartviz.analysis.start import plain as plain_words
from bartviz.analysis.word_colors import Numbers
from bartviz.arrays import Floats
from bartviz.families.catalogue import entry
from bartviz.families.registry import FAMILIES
from bartviz.language import later, mark
from bartviz.record.attention import Attention, Kind
from bartviz.record.record import Record
from bartviz.record.vocabulary import GIVEN_TARGET
from bartviz.text.tokens import Tokens

MOST = 4
"""Options of a question, at most."""
TRIES = 60
"""Draws of a head, a row or a step before a maker returns None."""
LETTERS = "ABCD"
READ_SO = mark("A row looks at columns: the fuller the colour, the larger the weight.")
LINE = 48
"""Words of a text from which one is chosen, at most."""
WIDEST = 16
"""Rows and columns that a reader can compare."""


Subject = tuple[object, ...]
Fact = tuple[object, ...]
Look = tuple[object, ...]  # what a reader sees of a question


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
    are several. ``ribbons``: drawn as on the start page, its columns the words above, its rows the words below.
    ``colors``: the numbers of the words of rows and columns (``analysis.word_colors``), which underline them.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[float | None, ...], ...]
    kind: Kind | None
    digits: bool = True
    title: str = ""
    ribbons: bool = False
    colors: tuple[Numbers, Numbers] = ((), ())


@dataclass(frozen=True)
class Touch:
    """Where the options of a question are in its picture: ``places[i]`` is the place of ``options[i]``.

    ``what`` is touched: a row or a column of the only map, a cell of its row ``row``, a whole map, or a word of the
    line (the places are then rows, columns, columns, maps, words). ``paper``: the options that a printed sheet has.
    """

    what: Literal["row", "column", "cell", "map", "word"]
    places: tuple[int, ...]
    paper: tuple[int, ...] = ()
    row: int = 0


@dataclass(frozen=True)
class Question:
    """One question about a record, with one right option: ``options[answer]``.

    ``prompt``, ``why`` and the texts of options are messages (``language.later``), which ``_`` translates to the
    current language. ``page`` and ``query`` show the answer; ``about`` names the subject, for programs. ``line`` are
    the words of a text, of which ``marked`` is the one that is spoken of (with ribbons: of the line that is not
    touched); ``touch`` is None where the options are not parts of the picture. ``hidden``: on a screen the ribbons of
    ``marked`` come with the answer, which the others suggest.
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
    line: tuple[str, ...] = ()
    marked: int | None = None
    touch: Touch | None = None
    hidden: bool = False

    @property
    def right(self) -> Option:
        return self.options[self.answer]

    @property
    def fact(self) -> Fact:
        """What is asked about: two questions with the same one are a double, whatever they offer.

        A row of one kind of attention is one fact, whichever head or number of it is asked about.
        """
        about = self.about
        if "row" in about:
            return ("row", about["kind"], about["row"])
        return (self.kind, *(value for name, value in sorted(about.items()) if name not in ("head", "seed", "noised")))

    @property
    def look(self) -> Look:
        """What a reader sees of it: rows of the same words and numbers are different facts that look the same."""
        return str(self.prompt), self.grids, self.line, str(self.right.text)

    @property
    def on_paper(self) -> Question:
        """The same question with at most four options, which have texts of their own."""
        if self.touch is None or not self.touch.paper:
            return self
        kept = self.touch.paper
        return replace(self, options=tuple(self.options[at] for at in kept), answer=kept.index(self.answer), touch=None)


@dataclass(frozen=True)
class Material:
    """A record, and values that several makers need, computed once."""

    record: Record
    _measured: dict[Kind, Measured] = field(default_factory=dict)
    _ribbons: list[Ribbons] = field(default_factory=list)

    def measured(self, kind: Kind) -> Measured:
        """The measures of every head of a kind."""
        if kind not in self._measured:
            self._measured[kind] = of_record(self.record, kind)
        return self._measured[kind]

    @property
    def ribbons(self) -> Ribbons | None:
        """What the start page draws; None of a record without words."""
        if not self._ribbons:
            self._ribbons.append(ribbons(self.record))
        found = self._ribbons[0]
        return found if plain_words(found.above) and plain_words(found.below) else None

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Every matrix of the record's model; empty if its configuration is not in the catalogue."""
        known = entry(self.record.model.name)
        if known is None:
            return ()
        named = self.record.model.architecture
        return parameters.rows(known.config, named if named in FAMILIES[known.family].variants else None)


@dataclass(frozen=True)
class Maker:
    """A kind of question: what a record can be asked about, and the question about one of these subjects.

    ``ask`` draws the rest (a head, the wrong options); None if no clear question is found.
    """

    subjects: Callable[[Material], Sequence[Subject]]
    ask: Callable[[Material, Generator, Subject], Question | None]


def shuffled(random: Generator, right: Option, wrong: Sequence[Option]) -> tuple[tuple[Option, ...], int]:
    """The right option and at most three wrong ones in random order, and the index of the right one."""
    options = [right, *wrong[: MOST - 1]]
    order = random.permutation(len(options))
    return tuple(options[place] for place in order), int(np.flatnonzero(order == 0)[0])


def in_order(right: Option, wrong: Sequence[Option]) -> tuple[tuple[Option, ...], int]:
    """The right option and the wrong ones in the order of their facts, as their pictures, and the index of the right
    one."""
    options = sorted([right, *wrong[: MOST - 1]], key=lambda option: str(option.fact))
    return tuple(options), options.index(right)


def drawn(random: Generator, things: Iterable[int], most: int) -> list[int]:
    """At most ``most`` of the things, in random order."""
    every = list(things)
    return [every[place] for place in random.permutation(len(every))[:most]]


def rows_of(record: Record, kind: Kind) -> tuple[str, ...]:
    """The labels of the rows of a kind, as the app names them: decoder rows by the token that they predict."""
    return record.rows(kind, "predicts").labels


def row_of(record: Record, kind: Kind, row: int) -> str:
    """A row within a sentence."""
    token = quote(rows_of(record, kind)[row])
    if kind == "encoder" or record.output is None:
        return later("the row of {token}", token=token)
    return later("the row that predicts {token}", token=token)


def first_word(tokens: Tokens) -> int:
    """The place of the first token that is not special: a line of words begins there."""
    words = np.flatnonzero(~tokens.special)
    return int(words[0]) if words.size else 0


def wrote(record: Record, row: int) -> bool:
    """Whether the model itself wrote the token that a decoder row predicts: it is neither given nor of the prompt."""
    return record.provenance.mode != GIVEN_TARGET and any(step.row == row for step in record.steps)


def any_head(attention: Attention, random: Generator) -> tuple[int, int]:
    """The layer and the number of a head drawn at random."""
    return int(random.integers(attention.shape[0])), int(random.integers(attention.shape[1]))


def short(place: tuple[int, int]) -> str:
    """A head's short name."""
    return f"L{place[0]}H{place[1]}"


def in_words(place: tuple[int, int]) -> str:
    """A head's name for a reader who does not know the short ones, at the beginning of a sentence or alone."""
    return later("Head {head} of layer {layer}", layer=place[0], head=place[1])


def heads_query(kind: Kind, place: tuple[int, int], **more: str) -> dict[str, str]:
    """The query of the page of heads; its rows are named as here unless a visitor has chosen otherwise."""
    return {"kind": kind, "layer": str(place[0]), "head": str(place[1]), **more}


def listed(messages: Sequence[str]) -> str:
    """Messages joined by commas, each translated when it is shown."""
    return reduce(lambda before, one: later("{before}, {one}", before=before, one=one), messages)


def plain(label: str) -> str:
    """A label without case and white space, to compare tokens as a reader does."""
    return label.strip().casefold()


def small(record: Record, kind: Kind, weights: Floats, title: str = "") -> tuple[Grid, ...]:
    """One map as a picture without digits; empty if it has more rows or columns than a reader can compare."""
    if max(weights.shape) > WIDEST:
        return ()
    cells = tuple(tuple(round(float(weight), 3) for weight in row) for row in weights)
    rows, columns = told_apart(rows_of(record, kind)), told_apart(record.attention(kind).key.labels)
    return (Grid(rows, columns, cells, kind, digits=False, title=title),)


def alone(labels: Sequence[str]) -> NDArray[np.bool_]:
    """(n,) True for labels that are visible and unique."""
    seen = [plain(label) for label in labels]
    return np.array([bool(label) and seen.count(label) == 1 for label in seen], np.bool_)


def told_apart(labels: Sequence[str]) -> tuple[str, ...]:
    """The labels as a reader can tell them apart: the second “the” of a text is “the (2)”."""
    seen, found = Counter[str](), list[str]()
    for label in labels:
        seen[label.strip()] += 1
        count = seen[label.strip()]
        found.append(label if count == 1 else f"{label} ({count})")
    return tuple(found)


def hundredths(weights: NDArray[np.floating]) -> list[float]:
    """Weights (n,) that sum to 1, rounded to two decimals that sum to 1.00 too (largest remainders)."""
    exact = np.asarray(weights, np.float64) * 100  # (n,)
    whole = np.floor(exact + 1e-9)  # (n,)
    missing = round(float(exact.sum())) - int(whole.sum())
    for place in np.argsort(whole - exact, kind="stable")[: max(missing, 0)]:
        whole[place] += 1
    return [float(value) / 100 for value in whole]
