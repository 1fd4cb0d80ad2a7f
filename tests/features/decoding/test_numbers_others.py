"""Why the others' bar is long: said only where no token in it has more than a tiny share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bartviz.features.decoding import numbers_others as numbers
from bartviz.record.record import Record

SMOOTH = [0.9, *[0.0004] * 9]  # 10% are left, and every token has less than 0.1% of them


def with_shares(record: Record, *shares: list[float]) -> Record:
    """A record whose steps have candidates of these probabilities, in turn; no rule has decided them."""
    steps = [
        replace(
            step,
            rule=None,
            candidates=tuple(replace(step.candidates[0], probability=p) for p in shares[at % len(shares)]),
        )
        for at, step in enumerate(record.steps)
    ]
    return replace(record, steps=tuple(steps))


def test_it_is_said_that_tiny_shares_add_up(record: Record) -> None:
    said = numbers.sentences(with_shares(record, SMOOTH))
    assert f"chooses among {record.model.vocabulary:,} tokens" in said
    assert "each of these has less than 0.1%, but they add up" in said
    assert "training" not in said


@pytest.mark.parametrize(
    "shares",
    [
        [0.9, *[0.01] * 9],  # some of the others have more
        [0.995, *[0.0004] * 9],  # their bar is not seen
        SMOOTH[:5],  # nobody knows how much the next one has
    ],
)
def test_nothing_is_said_where_it_is_not_so(record: Record, shares: list[float]) -> None:
    assert not numbers.sentences(with_shares(record, shares))
    assert not numbers.sentences(with_shares(record, shares, shares, SMOOTH))


def test_steps_that_a_rule_decided_do_not_count(record: Record) -> None:
    changed = with_shares(record, SMOOTH)
    assert not numbers.sentences(replace(changed, steps=tuple(replace(one, rule="kept") for one in changed.steps)))


@pytest.mark.parametrize(
    ("name", "source", "smoothed"),
    [
        ("bart-tiny-en-de", "embedded", True),
        ("bart-tiny-en-de", "folder", False),
        ("bart-tiny-denoise", "embedded", False),
    ],
)
def test_the_habit_is_only_said_of_a_model_that_was_trained_so(
    record: Record, name: str, source: Any, smoothed: bool
) -> None:
    changed = with_shares(record, SMOOTH)
    named = replace(changed, model=replace(changed.model, name=name, source=source))
    assert ("label smoothing" in numbers.sentences(named)) == smoothed


def test_models_that_are_named_say_so_themselves() -> None:
    from bartviz.families.catalogue import EMBEDDED

    for name in numbers.SMOOTHED:
        assert "label smoothing 0.1" in (EMBEDDED / name / "README.md").read_text("utf-8")
