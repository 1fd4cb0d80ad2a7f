"""What heads look at, and how far, as sums over texts that add up. Needs no torch.

A row counts as in every measure: it is no special token, and sees at least two keys. Letters in shapes: B texts of a
batch, C = L H heads of one kind (layers x heads), V types of tokens, D bins of distances, Q query rows, K key columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bartviz.arrays import Bools, Floats

Look = Literal["key", "query"]
LOOKS: tuple[Look, ...] = ("key", "query")
"""Tokens that are looked at, and tokens that look."""
_STARTS = (-np.inf, -128, -64, -32, -16, -8, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 9, 17, 33, 65, 129)
BINS = np.array([_STARTS, (*(start - 1 for start in _STARTS[1:]), np.inf)]).T
"""(D, 2) the nearest and farthest distance of each bin as signed tokens, ends included: single tokens up to 4, then
twice as wide each."""
MOST_TYPES = 2_048
"""Types of tokens that a part of a corpus keeps for each side: those in most of its texts."""

Doubles = NDArray[np.float64]
Whole = NDArray[np.int64]


def bins_of(distances: Whole) -> Whole:
    """The bin of each distance, any shape.

    >>> BINS[bins_of(np.array([-200, -5, 0, 9]))].tolist()
    [[-inf, -129.0], [-8.0, -5.0], [0.0, 0.0], [9.0, 16.0]]
    """
    return np.searchsorted(BINS[:, 0], distances, side="right") - 1


def distance_name(nearest: float, farthest: float) -> str:
    """A bin as it is shown.

    >>> [distance_name(*ends) for ends in [(-np.inf, -129), (-8, -5), (0, 0), (3, 3), (129, np.inf)]]
    ['≤−129', '−8…−5', '0', '+3', '≥+129']
    """
    if nearest == farthest:
        return _signed(nearest)
    if nearest == -np.inf:
        return f"≤{_signed(farthest)}"
    return f"≥{_signed(nearest)}" if farthest == np.inf else f"{_signed(nearest)}…{_signed(farthest)}"


def _signed(distance: float) -> str:
    sign = "\N{MINUS SIGN}" if distance < 0 else "+"
    return f"{sign if distance else ''}{abs(distance):.0f}"


@dataclass(frozen=True, eq=False)
class Types:
    """Sums by type of token, over the texts that have it.

    ``tokens`` (V,) as the app shows them, ascending: what looks the same is one type. ``counts`` (V, 4): tokens, those
    of them that are whole words, those that are special, and texts. With x what a head gives a type in a text, or what
    tokens of the type give, and y what that is compared with: ``base`` (2, V) Σy and Σy², ``sums`` (3, V, C) Σx, Σx²
    and Σxy.
    """

    tokens: NDArray[np.str_]
    counts: Whole
    base: Doubles
    sums: Doubles

    @classmethod
    def of(cls, codes: Whole, names: Sequence[str], flags: Bools, x: Floats, y: Floats) -> Types:
        """From the tokens of a batch: the places (B, n) of their names in ``names``, ``flags`` (3, B, n): those that
        count, whole words and special tokens, x (B, n, C) and y (B, n)."""
        counted, whole, special = flags
        text, place = np.nonzero(counted)
        order = np.lexsort((text, codes[text, place]))
        text, place = text[order], place[order]
        of_type = codes[text, place]
        if not len(text):
            nothing = np.zeros((0, 4), np.int64)
            return cls(np.zeros(0, np.str_), nothing, np.zeros((2, 0)), np.zeros((3, 0, x.shape[-1])))
        first = np.flatnonzero(np.diff(text, prepend=-1) | np.diff(of_type, prepend=-1))  # of each text and type
        given = np.add.reduceat(x[text, place].astype(np.float64), first)  # (pairs, C)
        compared = np.add.reduceat(y[text, place].astype(np.float64), first)  # (pairs,)
        known, start = np.unique(of_type[first], return_index=True)
        marks = np.stack([np.ones_like(text), whole[text, place], special[text, place]], axis=-1).astype(np.int64)
        counts = np.add.reduceat(np.add.reduceat(marks, first), start)
        texts = np.diff(np.append(start, len(first)))
        tokens = np.array([names[code] for code in known.tolist()])
        by_name = np.argsort(tokens)
        return cls(
            tokens[by_name],
            np.concatenate([counts, texts[:, None]], axis=1)[by_name],
            np.stack([np.add.reduceat(one, start) for one in (compared, compared**2)])[:, by_name],
            np.stack([np.add.reduceat(one, start) for one in (given, given**2, given * compared[:, None])])[:, by_name],
        )

    def __add__(self, other: Types) -> Types:
        tokens = np.union1d(self.tokens, other.tokens)
        made = Types(
            tokens,
            np.zeros((len(tokens), 4), np.int64),
            np.zeros((2, len(tokens))),
            np.zeros((3, len(tokens), self.sums.shape[-1])),
        )
        for one in (self, other):
            at = np.searchsorted(tokens, one.tokens)
            made.counts[at] += one.counts
            made.base[:, at] += one.base
            made.sums[:, at] += one.sums
        return made

    def kept(self, most: int = MOST_TYPES) -> Types:
        """The types that are in most texts."""
        if len(self.tokens) <= most:
            return self
        at = np.sort(np.argsort(-self.counts[:, 3], kind="stable")[:most])
        return Types(self.tokens[at], self.counts[at], self.base[:, at], self.sums[:, at])


def continues(groups: Whole, blank: Bools) -> Bools:
    """(B, n) tokens of the word of the token before them, from the words (B, n) that ``groups`` number; a token that is
    only a space is none of a word's.

    >>> continues(np.array([[0, 1, 1, 2, 2]]), np.array([[False, False, False, True, False]])).tolist()
    [[False, False, True, False, False]]
    """
    follows = (groups[:, 1:] == groups[:, :-1]) & ~blank[:, :-1]
    return np.asarray(np.pad(follows, ((0, 0), (1, 0))), np.bool_)


def whole_words(follows: Bools) -> Bools:
    """(B, n) tokens that are words by themselves, from those that ``continues`` finds."""
    return np.asarray(~follows & ~np.pad(follows[:, 1:], ((0, 0), (0, 1))), np.bool_)


@dataclass(frozen=True, eq=False)
class Looks:
    """The sums of one kind over some texts.

    ``rows`` (3,): texts, Σn and Σn² of the n rows that count. ``distances`` (3, C, D): with x the weight of a text on
    tokens so far away that are not special, Σx, Σx² and Σxn; ``even`` (D,) Σx of even attention. ``given`` (C,) the
    weight on tokens that are neither special nor the row's own. ``types`` of the tokens looked at: x the weight that
    they get, y what even attention would give them; of those that look: x their part of ``given``, y how many rows.
    """

    rows: Doubles
    distances: Doubles
    even: Doubles
    given: Doubles
    types: Mapping[Look, Types]

    def __add__(self, other: Looks) -> Looks:
        return Looks(
            self.rows + other.rows,
            self.distances + other.distances,
            self.even + other.even,
            self.given + other.given,
            {side: self.types[side] + other.types[side] for side in LOOKS},
        )

    def kept(self) -> Looks:
        """With the types that a part keeps, in the precision that its file has."""
        types: dict[Look, Types] = {}
        for side, whole in self.types.items():
            one = whole.kept()
            types[side] = Types(one.tokens, one.counts, _rounded(one.base), _rounded(one.sums))
        rows, distances = _rounded(self.rows), _rounded(self.distances)
        return Looks(rows, distances, _rounded(self.even), _rounded(self.given), types)


def _rounded(numbers: Doubles) -> Doubles:
    return numbers.astype(np.float32).astype(np.float64)
