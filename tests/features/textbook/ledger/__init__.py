"""One test for each statement of the textbook: its verdict, and its numbers counted again by hand."""

from __future__ import annotations

from collections.abc import Mapping

from bartviz.features import textbook
from bartviz.features.textbook.judging import Value, Verdict

Wanted = Mapping[str, object] | list[object] | tuple[object, ...]


def judged(number: str) -> Verdict:
    found = textbook.verdict(number)
    assert found is not None
    return found


def found(verdict: Verdict, label: str) -> Value:
    """What was found for the one number whose label begins so."""
    (one,) = (number for number in verdict.numbers if number.label.startswith(label))
    return one.found


def check(verdict: Verdict, word: str, wanted: Wanted, why: str = "") -> None:
    """A verdict has this word, these numbers (by label; a list: all; a tuple: the first), and this in its reason."""
    assert verdict.word == word
    assert why in verdict.why
    if isinstance(wanted, Mapping):
        assert {label: found(verdict, label) for label in wanted} == wanted
    else:
        numbers = [number.found for number in verdict.numbers]
        assert (numbers if isinstance(wanted, list) else tuple(numbers[: len(wanted)])) == wanted
