"""Lines 12 to 16."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from bartviz.record.record import Record
from bartviz.teaching.textbook import claim
from bartviz.teaching.textbook.judging import Evidence
from tests.analysis.ledger import found, judged
from tests.support import records


def test_line_12_rows_sum_to_1() -> None:
    verdict = judged("12")
    assert verdict.word == "holds"
    assert found(verdict, "heads side by side") == 8 * 32
    assert "32 encoder heads" in verdict.why


def test_line_12b_the_division_changes_weights_not_their_order() -> None:
    verdict = judged("12b")
    assert verdict.word == "caveat"
    assert found(verdict, "last encoder layer") == 8 * 9
    assert found(verdict, "mean largest weight") == pytest.approx(0.904, abs=0.01)


def test_line_12c_additive_attention_holds_64_times_as_much() -> None:
    verdict = judged("12c")
    assert verdict.word == "holds"
    assert found(verdict, "n = 512") == 512 * 512
    assert found(verdict, "multiply-adds") == 512 * 512 * 64
    assert "64 times" in verdict.why


def test_line_12d_many_narrow_heads_cost_as_much_as_one() -> None:
    verdict = judged("12d")
    assert verdict.word == "holds"
    n, d = 512, 768
    layers = 12 * (12 * n * d * d + 2 * n * n * d)
    assert found(verdict, "multiply-adds") == layers + d * d == 48_318_971_904  # the pooler sees one vector


def test_line_13_variance() -> None:
    verdict = judged("13")
    assert verdict.word == "caveat"
    assert found(verdict, "64 wide, variance 1") == pytest.approx(64, abs=2)
    assert found(verdict, "after division") == pytest.approx(1, abs=0.03)
    beyond = math.erfc(1 / math.sqrt(2))  # a normal number farther from 0 than its standard deviation
    assert found(verdict, "share of products") == f"{beyond:.0%}" == "32%"


def test_line_13b_unit_vectors_have_variance_1_64() -> None:
    verdict = judged("13b")
    assert verdict.word == "fails"
    assert found(verdict, "length") == pytest.approx(math.sqrt(64), abs=0.1)
    assert found(verdict, "unit vectors") == pytest.approx(1 / 64, abs=0.001)


def test_line_14_not_the_cosine() -> None:
    verdict = judged("14")
    assert verdict.word == "fails"
    assert found(verdict, "rows whose strongest key is the one with the largest cosine") == 235
    assert found(verdict, "rows whose strongest key is the one with the largest dot product") == 4 * 8 * 9


def test_line_15_gelu() -> None:
    verdict = judged("15")
    assert verdict.word == "holds"
    phi = 0.5 * (1 + math.erf(-0.1 / math.sqrt(2)))
    assert found(verdict, "GELU(-0.1)") == round(-0.1 * phi, 4) == -0.046


def test_line_15b_who_uses_it() -> None:
    verdict = judged("15b")
    assert verdict.word == "holds"
    assert [number.found for number in verdict.numbers[:4]] == ["GELU", "GELU", "GELU by tanh", "ReLU"]


def test_line_16_norms() -> None:
    verdict = judged("16")
    assert verdict.word == "holds"
    assert [number.found for number in verdict.numbers] == [2, 3, "post", "post", "pre", "pre"]


@pytest.mark.parametrize("number", ["9", "12", "12b", "14", "22b", "23"])
@pytest.mark.parametrize("record", [records.encoder_decoder(), records.encoder_only(), records.decoder_only()])
def test_the_visitors_run_is_judged_if_it_fits(number: str, record: Record) -> None:
    check = claim(number).check
    assert check is not None
    verdict = check(Evidence(record))
    own = record.cross is not None and bool(record.steps)
    assert ("your run" in verdict.basis) == own
    assert ("that ships" in verdict.basis) != own


def test_without_scaling_the_formula_without_it_holds() -> None:
    """As in T5: a scale of 1, and a bias of relative positions."""
    record = records.encoder_decoder()
    encoder = record.attention("encoder")
    bias = np.linspace(-1, 1, encoder.shape[1] * encoder.shape[2] ** 2, dtype=np.float32)
    bias = bias.reshape(encoder.shape[1], encoder.shape[2], encoder.shape[3])
    check = claim("12b").check
    assert check is not None
    assert check(Evidence(replace(record, encoder=replace(encoder, scale=1.0, bias=bias)))).word == "holds"


def test_line_12e_as_printed_queries_and_keys_change_places() -> None:
    verdict = judged("12e")
    assert verdict.word == "fails"
    off, fine = (number.found for number in verdict.numbers)
    assert isinstance(off, float)
    assert isinstance(fine, float)
    assert off > 1
    assert fine < 1e-6


def test_line_12f_t5_alone_has_no_biases() -> None:
    verdict = judged("12f")
    assert verdict.word == "caveat"
    assert [number.found for number in verdict.numbers] == [0, 3 * 768, 3 * 768, 768 * 768]


def test_line_16c_a_number_that_grows_approaches_the_root() -> None:
    verdict = judged("16c")
    assert verdict.word == "caveat"
    assert verdict.numbers[1].found == pytest.approx(767**0.5, abs=1e-3)
    alone = np.zeros(768)
    alone[0] = 1.0  # a single number above all others, whatever its size
    assert ((alone - alone.mean()) / alone.std())[0] == pytest.approx(767**0.5)


def test_line_18b_no_row_waits_but_more_is_computed() -> None:
    verdict = judged("18b")
    assert verdict.word == "caveat"
    n, d = 512, 768
    assert verdict.numbers[2].found == 4 * n * d * d + 2 * n * n * d
