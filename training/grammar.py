"""Rows of the project's own grammar: phrases with slots, clauses, and a greeting before either."""

from __future__ import annotations

import functools

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

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
    """A row of `lessons.txt`: of a section with four times as many lines it is twice as likely."""
    sections, shares = _lessons()
    section = sections[int(rng.choice(len(sections), p=shares))]
    return slots.filled(*names.pick(phrases(section, LESSONS), rng), rng)


@functools.cache
def _lessons() -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """The sections of the lessons, and how likely each is."""
    found = lists.sections(LESSONS)
    roots = np.sqrt([len(lines) for lines in found.values()])
    return tuple(found), roots / roots.sum()


@functools.cache
def phrases(section: str = "", file: str = PHRASES) -> tuple[tuple[str, str], ...]:
    """The patterns of a section of a file, or all."""
    found = lists.sections(file)
    return tuple(lists.two(line) for name in ([section] if section else found) for line in found[name])
