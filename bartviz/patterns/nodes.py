"""What a pattern is made of: classes of tokens, steps from a token to others, and what joins them.

A class gives (n,) which tokens of a side belong to it; a step gives which tokens are reached from which. In
cross-attention a path of steps begins in the text of the rows and has to end in that of the columns: ``link``, ``same``
and classes lead across.

Letters in shapes: Q query rows, K key columns, n and m tokens of a side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import reduce
from operator import and_, or_
from typing import Protocol

import numpy as np
from array_api_compat import array_namespace

from bartviz.arrays import Array, Bools
from bartviz.language import later
from bartviz.patterns.pair import ALL, Column, Pair, Side, Stays, Tree, Unfit
from bartviz.text.labels import is_capitalised, is_number

LABELS, COLUMNS, TREE, LINKS = "labels", "columns", "tree", "links"
"""What a pattern may need of a corpus in addition to its tokens."""
UPOS = "upos"  # the column of a CoNLL-U file with the parts of speech
ROLE, MESSAGE = CHAT = ("role", "message")  # columns that the tokens of a chat have without a corpus


class Part(Protocol):
    """A part of a pattern."""

    def needs(self) -> frozenset[str]:
        """What it reads in addition to the tokens."""

    def columns(self) -> frozenset[str]:
        """The columns of the corpus that it reads."""


class Node:
    """A part of a pattern, made as a dataclass: it reads what its own parts read, unless it says otherwise."""

    def _parts(self) -> Iterator[Part]:
        for entry in fields(self):  # type: ignore[arg-type]
            value = getattr(self, entry.name)
            yield from (one for one in (value if isinstance(value, tuple) else (value,)) if isinstance(one, Node))

    def needs(self) -> frozenset[str]:
        return frozenset().union(*(part.needs() for part in self._parts()))

    def columns(self) -> frozenset[str]:
        return frozenset().union(*(part.columns() for part in self._parts()))


class Tokens(Part, Protocol):
    """A set of tokens."""

    def of(self, side: Side) -> Array:
        """(n,) which tokens belong to it."""


class Target(Part, Protocol):
    """The tokens that a row looks at."""

    def cells(self, pair: Pair, start: Side, rows: slice = ALL) -> Array:
        """(Q, K) where a row of ``start`` looks; ``rows``: of these alone. Raises Unfit."""


CLASSES: Mapping[str, Callable[[Side], Array]] = {
    "any": lambda side: side.special | ~side.special,
    "word": lambda side: side.words >= 0,
    "special": lambda side: side.special,
    "punctuation": lambda side: side.punctuation,
    "number": lambda side: np.array([is_number(label) for label in side.labels], np.bool_) & ~side.special,
    "capitalised": lambda side: np.array([is_capitalised(label) for label in side.labels], np.bool_) & ~side.special,
    "first": lambda side: side.places == 0,
    "last": lambda side: side.places == side.end - 1,
    "first word": lambda side: side.words == 0,
    "last word": lambda side: (
        (side.words == array_namespace(side.words).max(side.words, axis=-1, keepdims=True)) & (side.words >= 0)
    ),
}
_READ = frozenset({"number", "capitalised"})  # classes that are seen in the label


@dataclass(frozen=True)
class Class(Node):
    """A class of tokens, one of ``CLASSES``."""

    name: str

    def of(self, side: Side) -> Array:
        return CLASSES[self.name](side)

    def needs(self) -> frozenset[str]:
        return frozenset({LABELS}) if self.name in _READ else frozenset()


@dataclass(frozen=True)
class Written(Node):
    """The tokens of a word, in capitals or not."""

    word: str

    def of(self, side: Side) -> Array:
        wanted = self.word.casefold()
        return np.array([word == wanted for word in side.written], np.bool_)

    def needs(self) -> frozenset[str]:
        return frozenset({LABELS})


@dataclass(frozen=True)
class Valued(Node):
    """The tokens of the words that have this value in a column of the corpus."""

    column: str
    value: str

    def of(self, side: Side) -> Array:
        found = column_of(side, self.column)
        rows = [at for at, value in enumerate(found.values) if value.casefold() == self.value.casefold()]
        return np.asarray(found.members[rows].any(axis=0))

    def needs(self) -> frozenset[str]:
        return frozenset({LABELS, COLUMNS})

    def columns(self) -> frozenset[str]:
        return frozenset({self.column})


def column_of(side: Side, name: str) -> Column:
    """A column of the corpus; one without words for a text that has none. Raises Unfit for a side without columns."""
    if name in CHAT and not side.annotated and name not in side.columns:
        raise Unfit(later("it is about the messages of a chat, and this text is none: give it as messages="))
    if not side.annotated and name not in CHAT:
        raise Unfit(later("the columns of the corpus are about the source text"))
    return side.columns.get(name) or Column((), np.zeros((0, len(side)), np.bool_))


@dataclass(frozen=True)
class Joined(Node):
    """Both of two sets ("and"), or either of them ("or")."""

    parts: tuple[Tokens, ...]
    every: bool

    def of(self, side: Side) -> Array:
        return reduce(and_ if self.every else or_, (part.of(side) for part in self.parts))


@dataclass(frozen=True)
class Without(Node):
    """All tokens but those of a set ("not")."""

    part: Tokens

    def of(self, side: Side) -> Array:
        return ~self.part.of(side)


class Step(Part, Protocol):
    """Where one gets from a token: to others of the same text, or across to the text of the columns."""

    def reach(self, pair: Pair, side: Side, rows: slice = ALL) -> tuple[Array, bool]:
        """(n, m) which tokens are reached from those of a side, and whether they are those of the columns. From the
        columns' side there is no way back. ``rows``: of these tokens alone. Raises Unfit."""


@dataclass(frozen=True)
class To(Node):
    """To all tokens of a set, wherever one comes from."""

    tokens: Tokens

    def reach(self, pair: Pair, side: Side, rows: slice = ALL) -> tuple[Array, bool]:
        there = self.tokens.of(pair.key)
        count = len(side.places[rows])
        return array_namespace(there).broadcast_to(
            there[..., None, :], (*there.shape[:-1], count, there.shape[-1])
        ), True


@dataclass(frozen=True)
class Plain(Node):
    """A step that needs nothing but the tokens of its side."""

    name: str
    distance: int = 0

    def reach(self, pair: Pair, side: Side, rows: slice = ALL) -> tuple[Array, bool]:
        return _PLAIN[self.name](side, rows, self.distance), False


def _offsets(side: Side, rows: slice) -> Array:
    """(n, n) how many tokens a column is after the row."""
    return side.places - side.places[rows, None]


def _words_ahead(side: Side, rows: slice) -> Array:
    """(n, n) how many words a column is after the row."""
    return side.groups[..., None, :] - side.groups[..., rows, None]


_PLAIN: Mapping[str, Callable[[Side, slice, int], Array]] = {
    "itself": lambda side, rows, _far: _offsets(side, rows) == 0,
    "ahead": lambda side, rows, far: _offsets(side, rows) == far,
    "back": lambda side, rows, far: _offsets(side, rows) == -far,
    "within": lambda side, rows, far: (abs(_offsets(side, rows)) <= far) & (_offsets(side, rows) != 0),
    "earlier": lambda side, rows, _far: _offsets(side, rows) < 0,
    "later": lambda side, rows, _far: _offsets(side, rows) > 0,
    "word ahead": lambda side, rows, far: _words_ahead(side, rows) == far,
    "word back": lambda side, rows, far: _words_ahead(side, rows) == -far,
}


@dataclass(frozen=True)
class Same(Node):
    """To the same token or word at another place, or the words with the same value of a column; in cross-attention to
    those of the other text, and for "position" to the token at the same place."""

    what: str

    def reach(self, pair: Pair, side: Side, rows: slice = ALL) -> tuple[Array, bool]:
        across = pair.crossing and side is not pair.key
        other = pair.key if across else side
        if self.what == "position":
            if pair.crossing and not across:
                raise Unfit(later("it crosses to the source twice"))
            return side.places[rows, None] == other.places, across
        if self.what == "token":
            found = side.ids[..., rows, None] == other.ids[..., None, :]
            found = found & ~side.special[..., rows, None] & ~other.special[..., None, :]
            own = _offsets(side, rows) == 0
        else:
            own = _words_ahead(side, rows) == 0
            if self.what == "word":
                codes = side.codes[..., rows, None]
                found = (codes == other.codes[..., None, :]) & (codes >= 0)
            else:
                found = self._valued(side, other)[rows]
        return (found if across else found & ~own), across

    def _valued(self, side: Side, other: Side) -> Bools:
        rows, columns = column_of(side, self.what), column_of(other, self.what)
        equal = np.array(rows.values, object)[:, None] == np.array(columns.values, object)
        return _through(rows.members, equal, columns.members)

    def needs(self) -> frozenset[str]:
        return frozenset({LABELS, COLUMNS}) if self.columns() else frozenset()

    def columns(self) -> frozenset[str]:
        return frozenset() if self.what in {"token", "word", "position"} else frozenset({self.what})


@dataclass(frozen=True)
class Linked(Node):
    """To the words of the source that an alignment by hand joins to the word of the row."""

    def reach(self, pair: Pair, side: Side, rows: slice = ALL) -> tuple[Array, bool]:
        if not pair.crossing:
            raise Unfit(later("links lead from an output to its source"))
        if side is pair.key:
            raise Unfit(later("it crosses to the source twice"))
        found = np.zeros((len(side), len(pair.key)), np.bool_)
        if pair.links is not None and pair.links.size:
            words, columns = side.words, pair.key.words
            linked = pair.links[np.maximum(words, 0)][:, np.maximum(columns, 0)]
            found = linked & (words >= 0)[:, None] & (columns >= 0)
        return found[rows], True

    def needs(self) -> frozenset[str]:
        return frozenset({LINKS})


@dataclass(frozen=True)
class Diagonal(Node):
    """To the tokens of the source at most one away from the straight line from the first pair to the last."""

    def reach(self, pair: Pair, side: Side, rows: slice = ALL) -> tuple[Array, bool]:
        if not pair.crossing:
            raise Unfit(later("the diagonal runs from an output to its source"))
        if side is pair.key:
            raise Unfit(later("it crosses to the source twice"))
        xp = array_namespace(side.ids)
        queries, keys = (xp.astype(xp.asarray(one.end), xp.float64) for one in (side, pair.key))
        line = side.places[rows] * ((keys - 1) / xp.where(queries > 1, queries - 1, 1.0))  # (..., Q)
        return abs(line[..., :, None] - pair.key.places) <= 1, True


@dataclass(frozen=True)
class Related(Node):
    """Within a tree of words: to the head of a word, or to the words that depend on it by a relation (None: by any)."""

    up: bool
    relation: str | None = None

    def reach(self, pair: Pair, side: Side, rows: slice = ALL) -> tuple[Array, bool]:
        if not side.annotated:
            raise Unfit(later("the trees of the corpus are about the source text"))
        tree = side.tree or Tree(np.zeros(0, np.int64), (), np.zeros((0, len(side)), np.bool_))
        arcs = tree.heads[:, None] == np.arange(len(tree.heads))  # (W, W) from a word to its head
        if self.relation is not None:
            arcs = arcs & np.array([relation == self.relation for relation in tree.relations], np.bool_)[:, None]
        found = _through(tree.members, arcs if self.up else arcs.T, tree.members)
        return (found & (side.groups[:, None] != side.groups))[rows], False  # both words of "im" are the same tokens

    def needs(self) -> frozenset[str]:
        return frozenset({LABELS, TREE})


def _through(first: Bools, between: Bools, second: Bools) -> Bools:
    """(n, m) the tokens that words (W, n) lead to by way of (W, V) and (V, m)."""
    if not first.shape[0] or not second.shape[0]:
        return np.zeros((first.shape[1], second.shape[1]), np.bool_)
    return np.asarray((first.T.astype(np.float32) @ between.astype(np.float32) @ second.astype(np.float32)) > 0)


def _after(first: Array, second: Array) -> Array:
    """(..., Q, m) what is reached by the second step (n, m) from where the first one (..., Q, n) leads."""
    xp = array_namespace(first, second)
    return xp.astype(first, xp.float32) @ xp.astype(second, xp.float32) > 0


@dataclass(frozen=True)
class Path(Node):
    """Steps one after the other, the last one first, as they are written: "next token of same token"."""

    steps: tuple[Step, ...]

    def cells(self, pair: Pair, start: Side, rows: slice = ALL) -> Array:
        side, found = start, None
        for step in reversed(self.steps):
            reached, across = step.reach(pair, side, rows if found is None else ALL)
            found = reached if found is None else _after(found, reached)
            side = pair.key if across else side
        if pair.crossing and side is not pair.key:
            raise Stays(later("it stays in the text of the rows"))
        assert found is not None
        return found


@dataclass(frozen=True)
class Targets(Node):
    """Both of two targets ("and"), or either of them ("or")."""

    parts: tuple[Target, ...]
    every: bool

    def cells(self, pair: Pair, start: Side, rows: slice = ALL) -> Array:
        return reduce(and_ if self.every else or_, (part.cells(pair, start, rows) for part in self.parts))


@dataclass(frozen=True)
class Elsewhere(Node):
    """Everywhere but at a target ("not"). Of two texts one leaves out nothing of the other."""

    part: Target

    def cells(self, pair: Pair, start: Side, rows: slice = ALL) -> Array:
        try:
            return ~self.part.cells(pair, start, rows)
        except Stays:
            return CLASSES["any"](pair.key)[..., None, :]


@dataclass(frozen=True)
class Clause(Node):
    """From some tokens to others. ``read``: in cross-attention a row stands for the token that it has just read."""

    source: Tokens
    target: Target
    read: bool = False

    def cells(self, pair: Pair, rows: slice = ALL) -> Array:
        """(Q, K), or of these rows alone. Raises Unfit."""
        start = pair.reads if self.read else pair.query
        return self.source.of(start)[..., rows, None] & self.target.cells(pair, start, rows)
