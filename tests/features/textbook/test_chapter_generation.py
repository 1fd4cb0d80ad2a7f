"""Lines 22 to 26 that need no model."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from bartviz.analysis.costs import Costs
from bartviz.features import textbook
from bartviz.features.textbook.judging import START, Evidence
from bartviz.record.record import Record
from tests.features.textbook.ledger import found, judged


def test_line_22c_the_encoder_is_the_costly_part_of_a_long_text() -> None:
    verdict = judged("22c")
    short = verdict.numbers[2].found
    assert isinstance(short, int)
    assert short < Costs("facebook/bart-base").generation(64, 64)["cached"].sum()


def test_line_23_logarithms_add_up() -> None:
    verdict = judged("23")
    record, _basis = Evidence().shipped(START)
    product = math.prod(step.chosen.probability for step in record.steps)
    assert found(verdict, "product") == pytest.approx(product, rel=1e-5)
    assert found(verdict, "sum") == pytest.approx(math.log(product), abs=1e-3)


def deep(*, trained: bool = True, layers: int = 6, written: str = "will") -> Record:
    """The shipped run as one of a network of that many layers; its second word may be another."""
    record, _basis = Evidence().shipped(START)
    model = replace(record.model, encoder_layers=layers, decoder_layers=layers, trained=trained)
    steps = [
        replace(step, chosen=replace(step.chosen, label=written)) if step.chosen.label == "möchte" else step
        for step in record.steps
    ]
    return replace(record, model=model, steps=tuple(steps))


@pytest.mark.parametrize(("written", "word"), [("will", "holds"), ("möchte", "fails")])
def test_line_26_a_large_one_does(written: str, word: str) -> None:
    verdict = textbook.verdict("26", deep(written=written))
    assert verdict is not None
    assert verdict.word == word


def test_line_26_is_not_decided_by_another_sentence() -> None:
    verdict = textbook.verdict("26", replace(deep(), source_text="I want to buy a house."))
    assert verdict is not None
    assert verdict.word == "undecided"


def test_line_25b_is_judged_by_a_trained_network_of_six_layers() -> None:
    for record, word in ((deep(), "fails"), (deep(layers=5), "undecided"), (deep(trained=False), "undecided")):
        verdict = textbook.verdict("25b", record)
        assert verdict is not None
        assert verdict.word == word
