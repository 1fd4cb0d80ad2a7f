"""The grammar's rows: how many, and that nothing of a pattern is left in them."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest

from training import grammar, lists, slots


def test_there_are_thousands_of_rows() -> None:
    rng = np.random.default_rng(0)
    rows = [grammar.drawn(rng) for _ in range(4000)]
    assert len({row.en for row in rows}) > 2000
    for row in rows:
        assert not re.search(r"[{}@_|]|  ", row.en + row.de)
        assert row.en[0] == row.en[0].upper()
        assert row.de[0] == row.de[0].upper()


@pytest.mark.parametrize(
    ("file", "count", "section"), [(grammar.PHRASES, 600, "greetings"), (grammar.LESSONS, 500, "politeness")]
)
def test_every_pattern_is_filled(file: str, count: int, section: str) -> None:
    rng = np.random.default_rng(1)
    patterns = grammar.phrases(file=file)
    assert len(patterns) > count
    assert set(grammar.phrases(section, file)) < set(patterns)
    for en, de in patterns:
        row = slots.filled(en, de, rng)
        assert not re.search(r"[{}@_|]|  ", row.en + row.de)
        assert (row.en[-1] in ".!?") == (row.de[-1] in ".!?")
        assert row.en[0] == row.en[0].upper()
        assert row.de[0] == row.de[0].upper()


def test_no_english_of_the_lessons_comes_twice() -> None:
    counts = Counter(en for en, _ in grammar.phrases(file=grammar.LESSONS))
    assert [en for en, count in counts.items() if count > 1] == []


def test_long_sections_of_the_lessons_are_drawn_more_often_and_their_lines_less() -> None:
    rng = np.random.default_rng(0)
    sections = tuple(lists.sections(grammar.LESSONS))
    assert sections[:8] == ("politeness", "classroom", "when", "passives", "digits", "words", "nursery", "questions")
    assert len(grammar.phrases("politeness", grammar.LESSONS) + grammar.phrases("classroom", grammar.LESSONS)) > 200
    drawn = np.mean([grammar.lesson(rng).en.startswith("When ") for _ in range(2000)])
    every = [[en.startswith("When ") for en, _ in grammar.phrases(name, grammar.LESSONS)] for name in sections]
    expected = np.average([np.mean(begins) for begins in every], weights=[len(begins) ** 0.5 for begins in every])
    assert abs(drawn - expected) < 4 * (expected / 2000) ** 0.5


def test_digits_are_copied() -> None:
    """In the lessons about them, the same strings stand in both languages, in order."""
    rng = np.random.default_rng(0)
    for en, de in grammar.phrases("digits", grammar.LESSONS):
        for _ in range(20):
            row = slots.filled(en, de, rng)
            assert re.findall(r"\d+", row.en) == re.findall(r"\d+", row.de)
    kinds = {re.sub(r"\d+", "0", slots.filled("{code}", "{code}", rng).en) for _ in range(200)}
    assert {"0", "0 0", "0 0 0", "0-0", "0 0 0 0 0"} <= kinds
