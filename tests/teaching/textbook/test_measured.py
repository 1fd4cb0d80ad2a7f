"""The lines of the ledger that need a model, judged by the translator that ships."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from bartviz import load
from bartviz.errors import Cancelled
from bartviz.teaching.textbook import CLAIMS, judging, measured, networks
from bartviz.teaching.textbook.judging import Verdict
from tests.analysis.ledger import found


@pytest.fixture(scope="module")
def judged() -> Mapping[str, Verdict]:
    return measured.judge_all(load(judging.MODEL))


@pytest.mark.slow
def test_every_line_without_a_check_is_judged(judged: Mapping[str, Verdict]) -> None:
    assert list(judged) == [line.number for line in CLAIMS if line.check is None]
    for verdict in judged.values():
        assert verdict.why.endswith(".")
    assert all(judging.MODEL in judged[number].basis for number in judged if number not in ("16d", "16e", "25c"))


@pytest.mark.slow
def test_line_9b_padding_gets_nothing(judged: Mapping[str, Verdict]) -> None:
    assert judged["9b"].word == "holds"
    assert found(judged["9b"], "padding tokens") == 2
    assert found(judged["9b"], "largest weight") == 0


@pytest.mark.slow
def test_line_9c_a_batch_closes_padding_in_cross_attention_too(judged: Mapping[str, Verdict]) -> None:
    assert judged["9c"].word == "caveat"
    assert found(judged["9c"], "a text alone") == 8 * 9
    assert found(judged["9c"], "the same text") == 12 * 9  # 12 rows of the batch, 9 of 11 columns


@pytest.mark.slow
def test_line_17_which_positions_a_change_reaches(judged: Mapping[str, Verdict]) -> None:
    assert judged["17"].word == "holds"
    assert [number.found for number in judged["17"].numbers] == [9, 8, 0, 4]


@pytest.mark.slow
def test_line_18_13_words_not_12(judged: Mapping[str, Verdict]) -> None:
    assert judged["18"].word == "caveat"
    words = [
        "house",
        "is",
        "beautiful",
        "and",
        "well",
        "located",
        "in",
        "the",
        "middle",
        "of",
        "the",
        "city",
        "where",
        "it",
    ]
    assert found(judged["18"], "positions from") == len(words) - 1 == 13
    assert found(judged["18"], "layers until") == 1


@pytest.mark.slow
def test_line_22_one_call_of_the_encoder(judged: Mapping[str, Verdict]) -> None:
    assert judged["22"].word == "holds"
    assert found(judged["22"], "calls of the first encoder layer") == 1
    assert found(judged["22"], "steps of generate()") == 8


@pytest.mark.slow
def test_line_16b_mean_0_and_variance_1_before_gain_and_shift(judged: Mapping[str, Verdict]) -> None:
    assert judged["16b"].word == "caveat"
    assert found(judged["16b"], "its mean variance") == pytest.approx(1, abs=0.001)
    assert found(judged["16b"], "with the learned gain") != pytest.approx(1, abs=0.1)


@pytest.mark.slow
def test_line_22d_without_cross_attention_every_source_gives_the_same_text(judged: Mapping[str, Verdict]) -> None:
    assert judged["22d"].word == "caveat"  # it knows no source, but what it writes is no sentence that it has learned
    assert [number.found for number in judged["22d"].numbers] == [4, 1, "no"]


@pytest.mark.slow
def test_line_25_by_hand(judged: Mapping[str, Verdict]) -> None:
    assert judged["25"].word == "caveat"
    assert found(judged["25"], "steps that chose") == 5
    assert found(judged["25"], "rows whose own token") == 0
    apart = found(judged["25"], "largest difference")
    assert isinstance(apart, float)
    assert apart < 1e-5


@pytest.mark.slow
def test_line_27_four_beams(judged: Mapping[str, Verdict]) -> None:
    assert judged["27"].word == "caveat"
    assert found(judged["27"], "beams that are followed") == 4
    assert found(judged["27"], "of 4 texts") == 4
    assert found(judged["27"], "texts that differ") == 0
    assert "-0.00" not in judged["27"].why


@pytest.mark.slow
def test_line_28_tied(judged: Mapping[str, Verdict]) -> None:
    assert judged["28"].word == "caveat"
    assert found(judged["28"], "one matrix") == "yes"
    assert found(judged["28"], "models of the catalogue that tie them: all") == 16


def test_line_12g_rows_with_dropout_do_not_sum_to_1(judged: Mapping[str, Verdict]) -> None:
    assert judged["12g"].word == "caveat"
    assert [number.found for number in judged["12g"].numbers[:3]] == [0.1, 0.1, 0]


def test_line_16d_the_gradient_of_pre_norm_falls_with_depth(judged: Mapping[str, Verdict]) -> None:
    """About as 1 / sqrt(layers), and that of post-norm stays as it is (Xiong et al. 2020, theorem 1)."""
    assert judged["16d"].word == "caveat"
    pre = [networks.gradient(depth, -1, pre=True) for depth in (6, 24)]
    post = [networks.gradient(depth, -1, pre=False) for depth in (6, 24)]
    assert pre[1] / pre[0] == pytest.approx((6 / 24) ** 0.5, abs=0.15)
    assert post[1] / post[0] == pytest.approx(1, abs=0.2)


def test_line_16e_gradients_at_the_start_decide_nothing(judged: Mapping[str, Verdict]) -> None:
    assert judged["16e"].word == "undecided"


def test_line_24b_the_end_token_of_a_source_helps_a_little(judged: Mapping[str, Verdict]) -> None:
    assert judged["24b"].word == "holds"
    assert found(judged["24b"], "of 4 texts") == 4
    lost = found(judged["24b"], "lost without it")
    assert isinstance(lost, float)
    assert 0 < lost < 0.1


def test_line_25c_a_fast_kernel_returns_no_matrices(judged: Mapping[str, Verdict]) -> None:
    assert judged["25c"].word == "fails"
    assert [number.found for number in judged["25c"].numbers] == ["0 0 0", "6 6 6"]


def test_line_25d_all_at_once_is_step_by_step(judged: Mapping[str, Verdict]) -> None:
    assert judged["25d"].word == "holds"
    assert found(judged["25d"], "rows with the token") == 8


def test_line_28b_a_state_resembles_the_next_token(judged: Mapping[str, Verdict]) -> None:
    assert judged["28b"].word == "holds"
    ahead = found(judged["28b"], "cosine with the embedding")
    assert isinstance(ahead, float)
    assert ahead > 0.25


def test_it_reports_progress_and_can_be_stopped() -> None:
    model, told = load(judging.MODEL), list[tuple[str, int, int]]()

    def stop(note: str, done: int, total: int) -> None:
        told.append((note, done, total))

    with pytest.raises(Cancelled):
        measured.judge_all(model, cancelled=lambda: True, on_progress=stop)
    assert told == [("Line 9b of the ledger", 0, len(measured.CHECKS))]
