"""Lines 32 to 34."""

from __future__ import annotations

import pytest

from bartviz.features.textbook import chapter_cost as cost
from bartviz.features.textbook import chapter_masks as masks
from tests.features.textbook.ledger import found, judged


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
    assert found(verdict, "what grows with n² ÷ feed-forward, n = 128") == pytest.approx(128 / 3072)
    assert found(verdict, "attention with its projections ÷ feed-forward, n = 512") == pytest.approx(0.5 + 512 / 3072)


def test_line_33b_wider() -> None:
    verdict = judged("33b")
    n, d = 512, 768
    assert verdict.word == "fails"
    assert found(verdict, "width doubled") == pytest.approx((16 * d + 4 * n) / (4 * d + 2 * n)) == 3.5
    assert found(verdict, "scores") == 2


def test_line_34_memory() -> None:
    verdict = judged("34")
    assert verdict.word == "caveat"
    assert found(verdict, "n doubled") == 4
    assert found(verdict, "activations") == 2
    assert found(verdict, "of 512") == pytest.approx(12 * 12_582_912 / (4 * 109_482_240))


def test_line_34b_decoding() -> None:
    verdict = judged("34b")
    assert verdict.word == "fails"
    d, n, out = 768, 128, 50_265 * 768
    each = 6 * (16 * d * d + 2 * n * d) + out  # a new row: projections, feed-forward part, the source, the output layer
    cached = [each + 6 * 2 * t * d for t in (64, 512)]
    assert found(verdict, "t from 64 to 512: growth of a step with a cache") == pytest.approx(
        cached[1] / cached[0], rel=0.01
    )
    whole = [6 * (16 * t * d * d + 2 * t * n * d + 2 * t * t * d + 2 * n * d * d) + out for t in (64, 512)]
    assert found(verdict, "t from 64 to 512: growth of a step without") == pytest.approx(whole[1] / whole[0], rel=0.15)


def test_no_article_is_named_for_a_claim_that_none_makes() -> None:
    sources = {claim.number: claim.sources for claim in (*cost.CLAIMS, *masks.CLAIMS)}
    assert sources["34b"] == ("none",)  # no article speaks of a cache
    (patterns,) = (claim for claim in masks.CLAIMS if claim.number == "11")
    assert "prefix" not in patterns.said  # the notes speak of arbitrary masks


def test_line_34d_twice_the_layers() -> None:
    verdict = judged("34d")
    assert verdict.word == "holds"
    n, d = 512, 768
    layers, rest = 12 * n * d * d + 2 * n * n * d, d * d  # the pooler reads one vector
    assert verdict.numbers[0].found == pytest.approx((24 * layers + rest) / (12 * layers + rest))
    assert verdict.numbers[1].found == 2


def test_line_34c_weights_gradients_and_adam() -> None:
    verdict = judged("34c")
    assert verdict.word == "caveat"
    assert verdict.numbers[0].found == 16 * 406_291_456
