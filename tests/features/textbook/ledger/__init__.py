"""One test for each statement of the textbook: its verdict, and its numbers counted again by hand."""

from __future__ import annotations

from bartviz.features import textbook
from bartviz.features.textbook.judging import Value, Verdict


def judged(number: str) -> Verdict:
    found = textbook.verdict(number)
    assert found is not None
    return found


def found(verdict: Verdict, label: str) -> Value:
    """What was found for the one number whose label begins so."""
    (one,) = (number for number in verdict.numbers if number.label.startswith(label))
    return one.found
