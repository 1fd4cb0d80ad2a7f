"""Everyday sentences by kind, and texts of two sentences, against the German that a reader accepts.

`training/data/everyday.txt` has lines `English | German | ...`; in the German `(a/b)` stands for either.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from training import lists

FILE = "everyday.txt"
TWO = "two sentences"  # the kind of the texts that are not among the 120 sentences
_CHOICE = re.compile(r"\(([^()]*)\)")


@dataclass(frozen=True)
class Case:
    """A sentence to translate."""

    kind: str
    en: str
    accepted: frozenset[str]  # in the form that `plain` gives


def cases() -> list[Case]:
    """All sentences, in the order of the file."""
    return [
        Case(kind, en, frozenset(plain(text) for pattern in german for text in written_out(pattern)))
        for kind, lines in lists.sections(FILE).items()
        for en, *german in map(lists.fields, lines)
    ]


def written_out(pattern: str) -> list[str]:
    """Every text that a pattern with choices stands for."""
    parts = _CHOICE.split(pattern)  # text, choices, text, choices, ..., text
    options = [part.split("/") if i % 2 else [part] for i, part in enumerate(parts)]
    return [" ".join("".join(chosen).split()) for chosen in itertools.product(*options)]


def plain(text: str) -> str:
    """A text without what does not matter here: the kind of its final mark, and spaces before marks."""
    return re.sub(r"\s+([.,!?])", r"\1", " ".join(text.split())).rstrip(".!").strip()


def right(case: Case, german: str) -> bool:
    """Whether a translation is one that is accepted."""
    return plain(german) in case.accepted


def by_kind(found: Sequence[Case], translate: Callable[[list[str]], list[str]]) -> dict[str, tuple[int, int]]:
    """Kind -> sentences right, sentences in all."""
    german = translate([case.en for case in found])
    counts: dict[str, tuple[int, int]] = {}
    for case, text in zip(found, german, strict=True):
        good, count = counts.get(case.kind, (0, 0))
        counts[case.kind] = (good + right(case, text), count + 1)
    return counts
