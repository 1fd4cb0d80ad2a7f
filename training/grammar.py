"""Rows of the project's own grammar: phrases with slots, clauses, and a greeting before either."""

from __future__ import annotations

import functools

from numpy.random import Generator

from training import clauses, lists, names, slots
from training.corpus import Pair

PHRASES, LESSONS = "phrases.txt", "lessons.txt"
CLAUSES = 0.4  # share of rows that are clauses; the others are phrases
GREETED = 0.08  # share of rows that begin with a greeting


def drawn(rng: Generator) -> Pair:
    """A row, drawn."""
    row = clauses.drawn(rng) if rng.random() < CLAUSES else slots.filled(*names.pick(phrases(), rng), rng)
    if rng.random() < GREETED:
        hello = slots.filled(*names.pick(phrases("greetings"), rng), rng)
        row = Pair(f"{hello.en} {row.en}", f"{hello.de} {row.de}")
    return row


def lesson(rng: Generator) -> Pair:
    """A row of `lessons.txt`: each of its sections is as likely as any other."""
    return slots.filled(*names.pick(phrases(names.pick(tuple(lists.sections(LESSONS)), rng), LESSONS), rng), rng)


@functools.cache
def phrases(section: str = "", file: str = PHRASES) -> tuple[tuple[str, str], ...]:
    """The patterns of a section of a file, or all."""
    found = lists.sections(file)
    return tuple(lists.two(line) for name in ([section] if section else found) for line in found[name])
