"""The articles' claims about sizes and costs, for the parameters page: statements of the textbook."""

from __future__ import annotations

from dataclasses import dataclass

from bartviz.features.textbook import claim, verdict
from bartviz.features.textbook.judging import NAMES

LINES = ("1", "3b", "2", "4", "6", "7", "8", "8b", "32", "33", "34b")
"""The statements of the textbook that the parameters page shows."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim in our words, the computed numbers, and the verdict.

    ``topic`` (its subject) and ``claim`` are in the reader's language; ``computed`` and ``verdict``, one of
    ``judging.NAMES``, are messages, looked up when they are shown.
    """

    topic: str
    claim: str
    computed: str
    verdict: str


def claims() -> tuple[Claim, ...]:
    """The articles' claims about sizes, parameters and costs."""
    found = []
    for number in LINES:
        line, judged = claim(number), verdict(number)
        assert judged is not None  # all of them are counted from configurations
        found.append(Claim(line.title, line.said, judged.why, NAMES[judged.word]))
    return tuple(found)
