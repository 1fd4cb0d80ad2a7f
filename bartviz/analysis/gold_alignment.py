"""Manual word alignments in the usual formats, and how well links agree with them.

A link (i, j) joins source word i to target word j, both counted from 0. Sure links S are unambiguous, possible links P
include ambiguous ones; S is a subset of P. Och and Ney 2003, section 5.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bartviz.errors import TextError
from bartviz.language import later, mark
from bartviz.text.labels import visible

Link = tuple[int, int]  # (source word, target word)
Links = frozenset[Link]
Base = Literal[0, 1]

# Alignments made by hand for the translator's output on the examples.
BY_HAND = {
    ("I want to buy a car.", "Ich möchte ein Auto kaufen."): "0-0 1-1 2?1 2?4 3-4 4-2 5-3 6-5",
    ("The cat is sleeping on the sofa.", "Die Katze schläft auf dem Sofa."): "0-0 1-1 2?2 3-2 4-3 5-4 6-5 7-6",
    (
        "Yesterday my sister bought two very old books.",
        "Gestern kaufte meine Schwester zwei sehr alte Bücher.",
    ): "0-0 1-2 2-3 3-1 4-4 5-5 6-6 7-7 8-8",
}
LONGEST = 100_000  # characters of a pasted alignment
_SHOWN = 24  # characters of a piece that a message quotes
_TYPED = str.maketrans({"\ufeff": None, "\u200b": None} | dict.fromkeys("‐‑‒–−－", "-") | {"？": "?"})  # as pasted
_PIECE = re.compile(r"([0-9]{1,6})([-?spSP])([0-9]{1,6})(?:[:/]([SP]))?")
_TABLE_LINE = re.compile(r"[0-9]{1,9}\s+[0-9]{1,6}\s+[0-9]{1,6}(?:\s+[SP])?(?:\s+[01](?:\.[0-9]{1,9})?)?")


@dataclass(frozen=True, slots=True)
class Gold:
    """A manual alignment; ``possible`` includes the sure links. ``judged``: the words of the output that it is about,
    None for all; links of other words are neither right nor wrong."""

    sure: Links
    possible: Links
    judged: frozenset[int] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "possible", self.possible | self.sure)

    def begun(self) -> Gold:
        """The same links, of an alignment that is still being made: only words that have a link are judged."""
        return Gold(self.sure, self.possible, frozenset(target for _source, target in self.possible))

    def judges(self, link: Link) -> bool:
        """Whether a link is right or wrong, rather than not judged yet."""
        return self.judged is None or link[1] in self.judged


@dataclass(frozen=True, slots=True)
class Score:
    """Links compared with a gold alignment: counts, and the three measures of Och and Ney 2003, section 5.

    precision |A & P| / |A|, None without links; recall |A & S| / |S|, None without sure links; ``error_rate`` (AER) 1 -
    (|A & S| + |A & P|) / (|A| + |S|): 0 is perfect, 1 is all wrong. Without sure links it is 1 - precision, and None if
    there are no links either.
    """

    found: int
    sure: int
    right: int  # |A & P|
    right_sure: int  # |A & S|

    def __add__(self, other: Score) -> Score:
        """Both together, as over a corpus: a rate of the sums is none of the means."""
        return Score(
            self.found + other.found,
            self.sure + other.sure,
            self.right + other.right,
            self.right_sure + other.right_sure,
        )

    @property
    def precision(self) -> float | None:
        return self.right / self.found if self.found else None

    @property
    def recall(self) -> float | None:
        return self.right_sure / self.sure if self.sure else None

    @property
    def error_rate(self) -> float | None:
        whole = self.found + self.sure
        return 1 - (self.right_sure + self.right) / whole if whole else None

    def measures(self) -> str:
        """The three as text; "-" for one that there is not."""
        named = [("precision", self.precision), ("recall", self.recall), ("error rate", self.error_rate)]
        return ", ".join(f"{name} {'-' if value is None else f'{value:.3f}'}" for name, value in named)

    @property
    def wrong(self) -> int:
        """The number of links that are not even possible."""
        return self.found - self.right

    @property
    def missed(self) -> int:
        """The number of sure links that are missing."""
        return self.sure - self.right_sure


def score(found: Iterable[Link], gold: Gold) -> Score:
    """How well the links ``found`` agree with ``gold``; those of words that it has not judged are left out."""
    links = frozenset(filter(gold.judges, found))
    return Score(len(links), len(gold.sure), len(links & gold.possible), len(links & gold.sure))


def never_first(gold: Gold) -> bool:
    """Whether no link has the first word of either side, as if words were counted from 1."""
    return len(gold.possible) > 1 and all(i and j for i, j in gold.possible)


def crossing(found: Links) -> Link | None:
    """The link that crosses most others; None if none crosses another."""
    ordered = sorted(found)
    i, j = np.array(ordered).T  # (links,) each
    there = np.zeros((i.max() + 2, j.max() + 2), np.int64)
    there[i + 1, j + 1] = 1
    before = there.cumsum(axis=0).cumsum(axis=1)  # [a, b]: links whose source is before a and whose target is before b
    crossings = (before[i, -1] - before[i, j + 1]) + (before[-1, j] - before[i + 1, j])  # (links,)
    best = int(crossings.argmax())
    return ordered[best] if crossings[best] else None


def read(text: str, sources: int, targets: int, *, base: Base = 0, swap: bool = False) -> Gold:
    """The alignment of one sentence pair of ``sources`` and ``targets`` words.

    Sure ``0-0``, possible ``1?2`` or ``1p2``, or either with a letter at the end: ``1-2/P``, ``1-2:S``; in one line, or
    one link per line. Also the lines ``sentence source target S`` of the 2003 shared task, which count words from 1
    whatever ``base`` says. Dashes that a word processor has put in place of hyphens are accepted. ``base``: whether the
    first word is 0 or 1; ``swap``: the target word comes first. Raises TextError, which quotes the piece that cannot be
    read, or names the word that does not exist.
    """
    if len(text) > LONGEST:
        raise TextError(
            later(
                "An alignment of one sentence has at most {limit:,} characters, and this has {count:,}.",
                limit=LONGEST,
                count=len(text),
            )
        )
    text = text.translate(_TYPED)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if lines and all(_TABLE_LINE.fullmatch(line) for line in lines):
        pieces, base = _table_pieces(lines), 1
    elif len(lines) > 1 and any(len(line.split()) > 1 for line in lines):
        raise TextError(
            later("There are {count} lines, but one sentence: paste only the line of this sentence.", count=len(lines))
        )
    else:
        pieces = [(piece, *_parts(piece)) for piece in text.split()]
    sure: set[Link] = set()
    possible: set[Link] = set()
    for piece, first, second, is_sure in pieces:
        source, target = (second - base, first - base) if swap else (first - base, second - base)
        _check(piece, "source", source, sources, base)
        _check(piece, "target", target, targets, base)
        (sure if is_sure else possible).add((source, target))
    return Gold(frozenset(sure), frozenset(possible))


def write(sure: Iterable[Link], possible: Iterable[Link] = ()) -> str:
    """One line in Pharaoh's format, words from 0: ``0-0 1?2``, sorted; sure links are not written as possible too."""
    solid = frozenset(sure)
    marked = [(link, "-") for link in solid] + [(link, "?") for link in frozenset(possible) - solid]
    return " ".join(f"{i}{mark}{j}" for (i, j), mark in sorted(marked))


def _table_pieces(lines: list[str]) -> list[tuple[str, int, int, bool]]:
    """Lines of the shared task: the sentence's number, source and target word, S or P, a confidence."""
    fields = [line.split() for line in lines]
    if len({line[0] for line in fields}) > 1:
        raise TextError(later("These lines belong to several sentences: paste only those of this sentence."))
    return [(" ".join(line), int(line[1]), int(line[2]), "P" not in line) for line in fields]


def _parts(piece: str) -> tuple[int, int, bool]:
    found = _PIECE.fullmatch(piece)
    if found is None or (found[4] and found[2] != "-"):
        raise TextError(
            later(
                "“{piece}” is not a link: write 0-0 for a sure link, 1?2 or 1p2 for a possible one, with "
                "spaces between links.",
                piece=_cut(piece),
            )
        )
    return int(found[1]), int(found[3]), found[2] in "-sS" and found[4] != "P"


def _check(piece: str, side: str, word: int, words: int, base: Base) -> None:
    if not 0 <= word < words:
        there = later("words {first} to {last}", first=base, last=words - 1 + base) if words else later("no words")
        message = (
            mark("“{piece}” names source word {word}, but the source has {words}.")
            if side == "source"
            else mark("“{piece}” names target word {word}, but the target has {words}.")
        )
        raise TextError(later(message, piece=_cut(piece), word=word + base, words=there))


def _cut(piece: str) -> str:
    """The piece as quoted in a message: short, and without invisible characters."""
    return visible(piece if len(piece) <= _SHOWN else piece[: _SHOWN - 1] + "…")
