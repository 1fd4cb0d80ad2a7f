"""What is done with every letter takes time that grows with the length of a text, whatever letters it has."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from bartviz.drawing.paper.sheet import wrapped
from bartviz.text.clean import clean
from bartviz.text.labels import Layout, normalized, visible

LETTERS = {
    "flags": "\U0001f1e6",
    "accents": "\u0301",
    "accents of two kinds": "\u0301\u0316",
    "joiners": "\u200d",
    "families": "\U0001f468\u200d",
    "variants": "\ufe0f",
    "tags": "\U000e0061",
    "first parts of syllables": "\u1100",
    "syllables in letters": "\u1100\u1161\u11a8",
    "last parts of syllables": "\u11a8",
    "conjuncts": "\u0915\u094d",
    "viramas": "\u094d",
    "signs before numbers": "\u0600",
    "directions": "\u202e",
    "spaces": " ",
    "line ends": "\n",
    "returns": "\r",
    "apostrophes": "a'",
    "dots": "a.",
    "unassigned": "\u0378",
}
AROUND = ("e{}", "{}x", "e{}\u200d")
SHORT, TIMES = 2_000, 16
LINEAR = TIMES * 4  # of the same work TIMES as often; what grows with the square takes TIMES * TIMES as long
NOISE = 0.02  # seconds of the processor that say nothing


def _lines(text: str) -> object:
    return list(wrapped(text, 6.5, 300.0))


def _composed(text: str) -> object:
    return normalized("NFC", text)


def _cleaned(text: str) -> object:
    return clean(f"{text}x")


def _seconds(work: Callable[[str], object], text: str) -> float:
    """Of the processor."""
    before = time.thread_time()
    work(text)
    return time.thread_time() - before


@pytest.mark.slow
@pytest.mark.parametrize("work", [Layout.of, visible, _composed, _cleaned, _lines])
def test_time_grows_with_the_length(work: Callable[[str], object]) -> None:
    found = {}
    for name, letters in LETTERS.items():
        for around in AROUND:
            text, longer = (around.format(letters * (size // len(letters))) for size in (SHORT, SHORT * TIMES))
            for _ in range(3):  # a busy machine may slow one down, not all three
                taken = _seconds(work, longer)
                if taken < NOISE or taken < LINEAR * _seconds(work, text):
                    break
            else:
                found[name, around] = taken
    assert found == {}
