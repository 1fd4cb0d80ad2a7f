"""Lines 19 to 21."""

from __future__ import annotations

import numpy as np
import pytest

from bartviz import load
from bartviz.features.textbook import claim
from tests.features.textbook.ledger import found, judged


def test_line_19_three_embeddings() -> None:
    verdict = judged("19")
    assert verdict.word == "holds"
    assert found(verdict, "width if they were") == 3 * 768 == 2304
    assert found(verdict, "segments in a pair") == "0 1"


def test_line_19b_that_is_not_barts_input() -> None:
    verdict = judged("19b")
    assert verdict.word == "fails"
    assert found(verdict, "first and last") == "<s> </s>"
    assert found(verdict, "segments that BART") == 0
    assert found(verdict, "id of the padding") == 1


def test_line_19c_the_written_layer_fits_one_length() -> None:
    verdict = judged("19c")
    assert verdict.word == "fails"
    assert [number.found for number in verdict.numbers] == [1, 2, 1, 512]


def test_line_19d_sep_has_a_segment() -> None:
    verdict = judged("19d")
    assert verdict.word == "fails"
    assert [number.found for number in verdict.numbers] == [15, "0"]


def test_line_21b_buckets_against_tables() -> None:
    verdict = judged("21b")
    assert verdict.word == "holds"
    assert [number.found for number in verdict.numbers] == [2 * 32 * 12]


def test_line_20_a_shift_is_a_rotation() -> None:
    verdict = judged("20")
    assert verdict.word == "undecided"  # irregular in a small model, which is no proof about a large one
    table = load("bert-tiny-en").network.bert.embeddings.position_embeddings.weight.detach().numpy()[:64].astype(float)
    for step, label in ((1, "learned, shift by 1:"), (16, "learned, shift by 16:")):
        before, after = np.c_[table[:-step], np.ones(64 - step)], table[step:]
        chosen = np.linalg.lstsq(before[::2], after[::2], rcond=None)[0]
        missed = np.linalg.norm(before[1::2] @ chosen - after[1::2])
        spread = np.linalg.norm(after[1::2] - after[1::2].mean(0))
        assert found(verdict, label) == pytest.approx(missed / spread, rel=0.05)


def test_line_20_counts_the_positions_that_its_page_shows() -> None:
    assert claim("20").query["rows"] == "63"  # the last of 64


def test_line_21c_all_far_distances_share_a_bucket() -> None:
    verdict = judged("21c")
    assert verdict.word == "caveat"
    assert [number.found for number in verdict.numbers] == [16, 1024, 1]  # half of 32 buckets for each direction


def test_line_21_positions() -> None:
    verdict = judged("21")
    assert verdict.word == "caveat"
    assert found(verdict, "BART: positions") == 1024
    assert found(verdict, "vocabulary of BART") == 50_265 == 50_257 + 8
