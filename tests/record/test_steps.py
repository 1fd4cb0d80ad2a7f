"""Steps are named when they are looked at, and are the same whether or when somebody looks."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

import bartviz
from bartviz.models.model import Model
from bartviz.record.steps import StepNumbers, Steps, bare, chosen_ids
from bartviz.run.candidates import Summary

TWO = (
    StepNumbers(0, 3, [(7, 2.0), (8, 1.0)], 2.5, 1.25, 8, 1.0, "forced"),
    StepNumbers(1, 4, [(9, 0.0)], 0.5, 0.75, 9, 0.0, drawn=[0.25, 0.25]),
)


def test_a_step_says_the_numbers_it_is_made_from() -> None:
    steps = Steps(TWO, lambda token, row: f"{token} after {row}")
    first, second = steps
    assert (first.position, first.row, first.rule, first.entropy) == (0, 3, "forced", 1.25)
    assert first.chosen.label == "8 after 3"
    assert first.log_probability == -1.5
    assert first.chosen.probability == pytest.approx(math.exp(-1.5))
    assert [one.probability for one in first.candidates] == pytest.approx([math.exp(-0.5), math.exp(-1.5)])
    assert first.chosen.filtered is None
    assert second.chosen.filtered == second.candidates[0].filtered == 0.25


def test_a_token_is_named_when_its_step_is_looked_at_and_once() -> None:
    asked: list[int] = []

    def label(token: int, row: int) -> str:
        asked.append(token)
        return str(token)

    steps = Steps(TWO, label)
    assert (len(steps), chosen_ids(steps), [one.row for one in bare(steps)]) == (2, [8, 9], [3, 4])
    assert asked == []
    assert steps[-1] is steps[1]
    assert asked == [9, 9]
    assert steps[:1] == (steps[0],)
    assert asked == [9, 9, 8, 7, 8]
    assert steps == tuple(steps)


@pytest.fixture(scope="module")
def translator() -> Model:
    return bartviz.load("bart-tiny-en-de")


@pytest.mark.slow
def test_a_run_names_no_candidate_until_somebody_looks(translator: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    named: list[int] = []
    label = Summary.label

    def listening(self: Summary, token: int, before: Sequence[int]) -> str:
        named.append(token)
        return label(self, token, before)

    monkeypatch.setattr(Summary, "label", listening)
    for record in (
        bartviz.capture(translator, "The children sing.", target="Die Kinder singen.", top_k=7),
        bartviz.decode(translator, "The children sing.", top_k=7),
    ):
        assert record.log_probability < 0
        assert named == []
        assert record.log_probability == pytest.approx(sum(step.log_probability for step in record.steps))
        assert len(named) == 8 * len(record.steps)
        named.clear()


def test_tokens_are_described_on_first_use(translator: Model) -> None:
    record = bartviz.capture(translator, "The children sing.", target="Die Kinder singen.")
    cross = record.attention("cross")
    assert cross.key.labels == ("<s>", "The", "children", "sing", ".", "</s>")
    assert "labels" not in cross.query.__dict__
    assert cross.query.labels[1:3] == ("<s>", "Die")
    assert "labels" in cross.query.__dict__
    assert cross.query.take(slice(2, 3)).spans == (cross.query.spans[2],)
