"""A given output: ranks, the tokens that the model preferred, perplexity."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from bartviz.features.decoding import numbers_teacher_forcing as teacher_forcing
from bartviz.record.record import Record
from bartviz.record.steps import Candidate
from tests.analysis.test_decoding import small


def test_perplexity_is_the_geometric_mean_of_one_over_p() -> None:
    assert teacher_forcing.perplexity(small()) == pytest.approx(math.sqrt(8))  # probabilities 1/2 and 1/4


def test_an_impossible_token_makes_it_infinite() -> None:
    record = small()
    impossible = replace(record.steps[0], log_probability=float("-inf"))
    assert teacher_forcing.perplexity(replace(record, steps=(impossible, record.steps[1]))) == math.inf


def test_the_token_that_the_model_preferred() -> None:
    found = teacher_forcing.table(small())
    assert list(found["rather"].fillna("")) == ["", "Ho"]
    assert found["rather_probability"][1] == 0.5
    assert found["running_perplexity"].tolist() == pytest.approx([2, math.sqrt(8)])


def test_a_rank_beyond_the_candidates_is_stated() -> None:
    step = small().steps[0]
    assert teacher_forcing.rank_text(step) == "1"
    assert teacher_forcing.rank_text(replace(step, chosen=Candidate(77, "x", 0.01, 0.0))) == "> 2"


def test_the_notice_names_the_surprise() -> None:
    said = teacher_forcing.notice(small())
    assert "1 of 2 tokens are the model's own first choice; log p −2.08, perplexity 2.83." in said
    assert "Least expected: “</s>” (25%), where “Ho” had 50%." in said


def test_nothing_is_surprising_where_all_are_first(record: Record) -> None:
    assert "Least expected" not in teacher_forcing.notice(record)
