"""Whether a head looks for the next word or at the word just read, by the two ends of a text."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import bartviz
from bartviz.analysis import aligners, start
from bartviz.analysis.alignment import links
from bartviz.analysis.look_ahead import AHEAD, BACK, NEITHER, directions, head_directions, record_directions
from bartviz.record.attention import Head
from bartviz.text.tokens import Tokens
from tests.support import stand_in

KEY = stand_in.tokens(("<s>", "the", " dog", "</s>"))
OUTPUT = stand_in.tokens(("<s>", "der", " Hund", "</s>"))  # what each row predicts
AHEAD_ = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], np.float32)
BACK_ = np.array([[1, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]], np.float32)


def test_the_first_row_has_no_word_behind_it_and_the_last_none_before_it() -> None:
    both = head_directions(np.stack([AHEAD_, BACK_]), OUTPUT, KEY)
    assert both is not None
    assert both.tolist() == [AHEAD, BACK]
    assert head_directions(AHEAD_, OUTPUT, KEY) == AHEAD


@pytest.mark.parametrize(
    ("output", "key"),
    [
        (OUTPUT.take(slice(0, 2)), KEY),  # cut off behind its first word
        (stand_in.tokens(("<s>", "</s>")), KEY),
        (None, KEY),
        (OUTPUT, stand_in.tokens(("a", " the", " dog", "."))),
    ],
)
def test_without_words_or_special_tokens_the_direction_is_unknown(output: Tokens | None, key: Tokens) -> None:
    rows = 4 if output is None else len(output)
    assert head_directions(AHEAD_[:rows], output, key) is None


@pytest.mark.slow
def test_the_best_head_by_what_it_predicts_is_not_the_one_that_looks_back() -> None:
    """L1H4 of the translator aligns the word just read: labelled by what it predicts it is wrong by one everywhere."""
    model = bartviz.load("bart-tiny-en-de")
    record = bartviz.capture(model, "The cat is sleeping on the sofa, because it is very tired today.")
    ranked = aligners.aligners(record)
    back = next(one for one in ranked if one.heads == (Head("cross", 1, 4),) and one.table.reading == "predicts")
    chosen = aligners.best(ranked, "predicts")
    assert back.agreement > chosen.agreement
    assert (back.fits, chosen.fits) == (False, True)
    assert aligners.best(ranked, "reads").heads == (Head("cross", 1, 4),)
    words = links(chosen.table.weights, "mutual")
    named = {(chosen.table.source.labels[i], chosen.table.target.labels[j]) for i, j in words}
    assert ("cat", "Katze") in named
    assert ("The", "Katze") not in named
    assert start.ribbons(record).head == chosen.heads[0]
    frame = aligners.ranking(ranked)
    assert set(frame["looks"]) == {"ahead", "back", ""}


def test_a_head_that_always_rests_looks_neither_way() -> None:
    resting = np.full((4, 4), 0.25, np.float32)
    assert head_directions(resting, OUTPUT, KEY) == NEITHER
    assert head_directions(np.stack([AHEAD_, BACK_, resting]), OUTPUT, KEY).tolist() == [AHEAD, BACK, NEITHER]  # type: ignore[union-attr]


def test_a_text_that_was_cut_off_is_judged_by_its_first_row() -> None:
    """Its last row still has a word to look for: here the second of three source words, none of which is its end."""
    going_on = AHEAD_.copy()
    going_on[3] = going_on[2]
    assert head_directions(going_on, OUTPUT, KEY) == NEITHER  # as if it had ended
    assert head_directions(going_on, OUTPUT, KEY, ended=False) == AHEAD
    assert head_directions(BACK_, OUTPUT, KEY, ended=False) == BACK
    cut = OUTPUT.take(slice(0, 3))
    assert head_directions(AHEAD_[:3], cut, KEY) == AHEAD
    assert head_directions(BACK_[:3], cut, KEY) == BACK


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "most", "target"),
    [
        ("My brother works in a small factory near the river.", 5, None),
        ("The children play football in the park every day.", 5, None),
        ("My brother works in a small factory near the river.", None, "Mein Bruder arbeitet"),
    ],
)
def test_heads_of_a_text_that_was_cut_off_look_as_they_do_in_the_whole(
    text: str, most: int | None, target: str | None
) -> None:
    """L2H0 of the translator looks for the word to come, L1H4 at the word just read, wherever the text stops."""
    model = bartviz.load("bart-tiny-en-de")
    cut = (
        bartviz.capture(model, text, target=target)
        if target
        else bartviz.decode(model, text, max_new_tokens=most or 60)
    )
    weights = cut.attention("cross")
    assert record_directions(cut, weights.head(2, 0)) == AHEAD
    assert record_directions(cut, weights.head(1, 4)) == BACK
    chosen = aligners.best(aligners.aligners(cut), "predicts")
    named = {
        (chosen.table.source.labels[i], chosen.table.target.labels[j]) for i, j in links(chosen.table.weights, "mutual")
    }
    assert named <= {
        ("My", "Mein"),
        ("brother", "Bruder"),
        ("works", "arbeitet"),
        ("The", "Die"),
        ("children", "Kinder"),
        ("play", "spielen"),
    }


def test_texts_of_a_batch_have_the_directions_that_they_have_alone() -> None:
    """The first text is OUTPUT, looked at ahead and back; the second is cut off, with two rows of padding."""
    rests = torch.tensor([[[1, 0, 0, 1], [1, 1, 0, 0]], [[1, 0, 0, 0], [0, 1, 1, 1]]], dtype=torch.float64)
    words = torch.tensor([[False, True, True, False], [True, True, False, False]])
    found, known = directions(rests, words, torch.tensor([4, 2]), torch.tensor([True, True]))
    assert found.tolist() == [[AHEAD, BACK], [BACK, AHEAD]]
    assert known.tolist() == [True, True]
    _, known = directions(rests, words & torch.tensor([True, False, False, False]), torch.tensor([4, 1]), words[:, 1])
    assert known.tolist() == [False, False]  # the first has no word, the second one word and no row after it
