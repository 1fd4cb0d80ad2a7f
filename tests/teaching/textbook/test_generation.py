"""Lines 22 to 26 that need no model."""

from __future__ import annotations

import math

import pytest

from bartviz.analysis.costs import Costs
from bartviz.teaching.textbook.judging import START, Evidence
from tests.analysis.ledger import found, judged


def test_line_22b_each_layer_makes_its_own_keys() -> None:
    verdict = judged("22b")
    assert verdict.word == "fails"
    assert found(verdict, "BART base: key matrices") == 6


def test_line_22c_the_encoder_is_the_costly_part_of_a_long_text() -> None:
    verdict = judged("22c")
    d, n = 768, 512
    encoder = 6 * (4 * n * d * d + 2 * n * n * d + 8 * n * d * d)
    assert verdict.word == "caveat"
    assert verdict.numbers[0].found == encoder == 24_159_191_040
    short = verdict.numbers[2].found
    assert isinstance(short, int)
    assert short < Costs("facebook/bart-base").generation(64, 64)["cached"].sum()


def test_line_23_logarithms_add_up() -> None:
    verdict = judged("23")
    record, _basis = Evidence().shipped(START)
    assert verdict.word == "holds"
    product = math.prod(step.chosen.probability for step in record.steps)
    assert found(verdict, "product") == pytest.approx(product, rel=1e-5)
    assert found(verdict, "sum") == pytest.approx(math.log(product), abs=1e-3)


def test_line_24_bart_starts_from_its_end_token() -> None:
    verdict = judged("24")
    assert verdict.word == "fails"
    assert found(verdict, "BART base") == 2
    assert found(verdict, "first decoder input") == "</s>"
    assert found(verdict, "Marian") == 58_100


def test_line_25b_other_heads_align_better() -> None:
    verdict = judged("25b")
    assert verdict.word == "fails"
    assert found(verdict, "best head") == "L1H4"
    assert found(verdict, "heads that align better") == 19


def test_line_26_moechte_instead_of_will() -> None:
    verdict = judged("26")
    assert verdict.word == "caveat"
    assert found(verdict, "words as in") == 4
    assert found(verdict, "second word") == "möchte"
    assert found(verdict, "probability of") == "26%"


def test_line_23b_too_many_texts() -> None:
    verdict = judged("23b")
    assert verdict.word == "holds"
    assert [number.found for number in verdict.numbers] == [8_000.0**6, pytest.approx(50_265.0**6)]
