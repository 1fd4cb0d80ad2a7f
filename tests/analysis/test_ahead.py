"""Whether a head looks for the word to come or at the word just read, told from the ends of a text."""

from __future__ import annotations

import numpy as np
import pytest

import bartviz
from bartviz.analysis import aligners, start
from bartviz.analysis.ahead import looks_ahead
from bartviz.analysis.alignment import links
from bartviz.attention import Head, Tokens
from tests import stand_in

KEY = stand_in.tokens(("<s>", "the", " dog", "</s>"))
OUTPUT = stand_in.tokens(("<s>", "der", " Hund", "</s>"))  # what each row predicts
AHEAD = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], np.float32)
BACK = np.array([[1, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]], np.float32)


def test_the_first_row_has_no_word_behind_it_and_the_last_none_before_it() -> None:
    both = looks_ahead(np.stack([AHEAD, BACK]), OUTPUT, KEY)
    assert both is not None
    assert both.tolist() == [True, False]
    assert bool(looks_ahead(AHEAD, OUTPUT, KEY))


@pytest.mark.parametrize(
    ("output", "key"),
    [
        (OUTPUT.take(slice(0, 3)), KEY),  # cut off
        (stand_in.tokens(("<s>", "</s>")), KEY),
        (None, KEY),
        (OUTPUT, stand_in.tokens(("a", " the", " dog", "."))),
    ],
)
def test_what_cannot_be_told_is_not_told(output: Tokens | None, key: Tokens) -> None:
    rows = 4 if output is None else len(output)
    assert looks_ahead(AHEAD[:rows], output, key) is None


def test_the_best_head_by_what_it_predicts_is_not_the_one_that_looks_back() -> None:
    """L1H4 of the translator aligns the word just read: labelled by what it predicts it is wrong by one everywhere."""
    model = bartviz.load("bart-tiny-en-de")
    record = bartviz.capture(model, "My brother works in a small factory near the river.")
    ranked = aligners.aligners(record)
    back = next(one for one in ranked if one.heads == (Head("cross", 1, 4),) and one.table.reading == "predicts")
    chosen = aligners.best(ranked, "predicts")
    assert back.agreement > chosen.agreement
    assert (back.fits, chosen.fits) == (False, True)
    assert aligners.best(ranked, "reads").heads == (Head("cross", 1, 4),)
    words = links(chosen.table.weights, "mutual")
    named = {(chosen.table.source.labels[i], chosen.table.target.labels[j]) for i, j in words}
    assert ("brother", "Bruder") in named
    assert ("My", "Bruder") not in named
    assert start.ribbons(record).head == chosen.heads[0]
    frame = aligners.ranking(ranked)
    assert set(frame["looks"]) == {"ahead", "back"}
