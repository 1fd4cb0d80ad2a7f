"""Lines 32 to 34."""

from __future__ import annotations

import pytest

from bartviz.teaching.textbook import cost, masks
from tests.analysis.ledger import found, judged


def test_line_32_bytes() -> None:
    verdict = judged("32")
    assert verdict.word == "holds"
    assert found(verdict, "bytes of one layer") == 12 * 512 * 512 * 4 == 12_582_912
    assert found(verdict, "bytes of 12") == 12 * 12_582_912
    assert "12.6 MB and 151 MB" in verdict.why


def test_line_33_equal_from_four_times_the_width_on() -> None:
    verdict = judged("33")
    assert verdict.word == "caveat"
    assert found(verdict, "equal from n, what grows") == 4 * 768 == 3072  # 2 n d = 8 d d / ... : n = 4 d
    assert found(verdict, "equal from n, with") == 2 * 768 == 1536
    assert found(verdict, "what grows with n² ÷ feed-forward, n = 128") == round(128 / 3072, 3) == 0.042
    assert found(verdict, "attention with its projections ÷ feed-forward, n = 512") == round(0.5 + 512 / 3072, 3)


def test_line_33b_wider() -> None:
    verdict = judged("33b")
    n, d = 512, 768
    assert verdict.word == "caveat"
    assert found(verdict, "width doubled") == round((16 * d + 4 * n) / (4 * d + 2 * n), 2) == 3.5
    assert found(verdict, "scores") == 2


def test_line_34_memory() -> None:
    verdict = judged("34")
    assert verdict.word == "caveat"
    assert found(verdict, "n doubled") == 4
    assert found(verdict, "activations") == 2
    assert found(verdict, "of 512") == round(12 * 12_582_912 / (4 * 109_482_240), 2) == 0.34


def test_line_34b_decoding() -> None:
    verdict = judged("34b")
    assert verdict.word == "caveat"
    assert found(verdict, "growth of a step with a cache") == pytest.approx(1.05)
    assert "7.4 times without" in verdict.why


def test_no_article_is_named_for_a_claim_that_none_makes() -> None:
    sources = {claim.number: claim.sources for claim in (*cost.CLAIMS, *masks.CLAIMS)}
    assert sources["34b"] == ("none",)  # no article speaks of a cache
    (patterns,) = (claim for claim in masks.CLAIMS if claim.number == "11")
    assert "prefix" not in patterns.said  # the notes speak of arbitrary masks


def test_line_34c_weights_gradients_and_adam() -> None:
    verdict = judged("34c")
    assert verdict.word == "caveat"
    assert verdict.numbers[0].found == 16 * 406_291_456
