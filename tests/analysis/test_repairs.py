"""The judgement of a repair: score, sentence, tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import bartviz
from bartviz.analysis import repairs
from bartviz.analysis.repairs import Repair, Score
from bartviz.errors import RecordError
from bartviz.experiments.repair import repair


@pytest.fixture(scope="module")
def found() -> Repair:
    """Three sentences put in another order, repaired by the model that ships."""
    text = "She has lost her keys and cannot find them. The cat is sleeping on the sofa."
    return repair(bartviz.load("bart-tiny-denoise"), text, "sentence permutation", seed=3)


def score(chances: list[float], right: list[bool], lost: list[bool]) -> Score:
    count = len(chances)
    return Score(
        ("x",) * count,
        np.zeros(count, np.bool_),
        np.log(np.array(chances, np.float32)),
        ("y",) * count,
        np.full(count, 0.5, np.float32),
        np.array(right),
        np.array(lost),
    )


def test_accuracy_and_loss_by_hand() -> None:
    told = score([0.5, 0.25], [True, False], [True, False])
    assert told.accuracy == 0.5
    assert told.loss == pytest.approx((np.log(2) + np.log(4)) / 2)
    assert told.of_lost == (1, 1)


@pytest.mark.slow
def test_the_first_special_token_is_not_counted_and_the_last_is(found: Repair) -> None:
    assert found.given.output is not None
    assert found.score.labels == found.given.output.labels[1:]
    assert found.score.labels[-1] == "</s>"


def test_moved_words_are_marked_in_the_score(found: Repair) -> None:
    inside = [not special for special in found.score.special]
    assert found.score.lost.tolist() == inside


def test_the_sentence_says_what_was_restored(found: Repair) -> None:
    assert repairs.notice(found) == f"{found.written.model.name} put back 18 of 18 moved words."
    ordered = tuple(sorted(found.noised.words, key=lambda word: word.origin))
    still = replace(found, noised=replace(found.noised, words=ordered))
    assert "Nothing was lost or moved" in repairs.notice(still)


def test_what_was_left_out_though_it_could_be_seen_is_counted(found: Repair) -> None:
    silent = tuple(replace(place, said=()) for place in found.places)
    one = replace(found.noised, words=tuple(sorted(found.noised.words[:-1], key=lambda word: word.origin)), lost=(9,))
    assert repairs.notice(replace(found, places=silent, noised=one)).endswith(
        "; it left out 17 words that it could see."
    )


def test_the_table_holds_the_three_texts(found: Repair) -> None:
    frame = repairs.table(found)
    assert " ".join(frame["original"]).split() == [word.text for word in found.noised.clean]
    assert " ".join(frame["corrupted"]).split() == [word.text for word in found.noised.words]
    assert " ".join(frame["reconstructed"]).split() == [one.text for one in found.said]


def test_the_token_table_adds_up(found: Repair) -> None:
    frame = repairs.token_table(found.score)
    assert frame["loss (nats)"].mean() == pytest.approx(found.score.loss, abs=1e-6)
    assert frame["right"].mean() == pytest.approx(found.score.accuracy)


def test_a_record_without_output_is_refused(found: Repair) -> None:
    with pytest.raises(RecordError, match="no given target"):
        repairs.score(replace(found.given, output=None, steps=()), found.noised)
