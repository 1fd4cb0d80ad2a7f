"""The lines of the ledger that need a model, judged by the translator that ships."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from bartviz import load
from bartviz.errors import Cancelled
from bartviz.teaching.textbook import CLAIMS, judging, measured
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
        assert judging.MODEL in verdict.basis


@pytest.mark.slow
def test_line_9b_padding_gets_nothing(judged: Mapping[str, Verdict]) -> None:
    assert judged["9b"].word == "holds"
    assert found(judged["9b"], "padding tokens") == 2
    assert found(judged["9b"], "largest weight") == 0


def test_line_9c_a_batch_closes_padding_in_cross_attention_too(judged: Mapping[str, Verdict]) -> None:
    assert judged["9c"].word == "caveat"
    assert found(judged["9c"], "a text alone") == 8 * 9
    assert found(judged["9c"], "the same text") == 12 * 9  # 12 rows of the batch, 9 of 11 columns


def test_line_17_which_positions_a_change_reaches(judged: Mapping[str, Verdict]) -> None:
    assert judged["17"].word == "holds"
    assert [number.found for number in judged["17"].numbers] == [9, 8, 0, 4]


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


def test_line_22_one_call_of_the_encoder(judged: Mapping[str, Verdict]) -> None:
    assert judged["22"].word == "holds"
    assert found(judged["22"], "calls of the first encoder layer") == 1
    assert found(judged["22"], "steps of generate()") == 8


def test_line_16b_mean_0_and_variance_1_before_gain_and_shift(judged: Mapping[str, Verdict]) -> None:
    assert judged["16b"].word == "caveat"
    assert found(judged["16b"], "its mean variance") == pytest.approx(1, abs=0.001)
    assert found(judged["16b"], "with the learned gain") != pytest.approx(1, abs=0.1)


def test_line_22d_without_cross_attention_every_source_gives_the_same_text(judged: Mapping[str, Verdict]) -> None:
    assert judged["22d"].word == "holds"
    assert [number.found for number in judged["22d"].numbers] == [4, 1]


def test_line_25_by_hand(judged: Mapping[str, Verdict]) -> None:
    assert judged["25"].word == "caveat"
    assert found(judged["25"], "steps that chose") == 5
    assert found(judged["25"], "rows whose own token") == 0
    apart = found(judged["25"], "largest difference")
    assert isinstance(apart, float)
    assert apart < 1e-5


def test_line_27_four_beams(judged: Mapping[str, Verdict]) -> None:
    assert judged["27"].word == "caveat"
    assert found(judged["27"], "beams that are followed") == 4
    assert found(judged["27"], "of 4 texts") == 4
    assert found(judged["27"], "texts that differ") == 1


def test_line_28_tied(judged: Mapping[str, Verdict]) -> None:
    assert judged["28"].word == "caveat"
    assert found(judged["28"], "one matrix") == "yes"
    assert found(judged["28"], "models of the catalogue that tie them: all") == 16


def test_it_reports_progress_and_can_be_stopped() -> None:
    model, told = load(judging.MODEL), list[tuple[str, int, int]]()

    def stop(note: str, done: int, total: int) -> None:
        told.append((note, done, total))

    with pytest.raises(Cancelled):
        measured.judge_all(model, cancelled=lambda: True, on_progress=stop)
    assert told == [("Line 9b of the ledger", 0, 10)]
