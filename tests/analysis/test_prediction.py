"""What a prediction says in words and as a table, with numbers worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bartviz.analysis import prediction as analysis
from bartviz.errors import SettingError
from bartviz.record.prediction import ENDS, Prediction
from bartviz.record.record import Record
from tests.support import stand_in

NOWHERE = -30.0


def asked(starts: dict[int, float], ends: dict[int, float]) -> Record:
    """A question of four tokens and a text of five: tokens 4 to 8, " want to buy a" at their places in it."""
    record = stand_in.record(kind="encoder")
    assert record.encoder is not None
    n = len(record.source)
    segments = np.array([0] * 4 + [1] * (n - 4))
    tokens = replace(record.source, segments=segments)
    encoder = replace(record.encoder, query=tokens, key=tokens)
    logits = np.full((n, 2), NOWHERE, np.float32)
    for column, given in enumerate((starts, ends)):
        for token, p in given.items():
            logits[token, column] = np.log(p)
    said = Prediction("answer", ENDS, logits)
    return replace(record, encoder=encoder, pair_text=record.source_text, prediction=said)


def test_an_answer_ends_after_its_start_and_lies_in_the_second_text() -> None:
    # The likeliest start is in the question; within the text start 6 and end 5 would be likelier than any pair.
    record = asked({1: 0.4, 4: 0.2, 6: 0.4}, {2: 0.3, 5: 0.6, 6: 0.1})
    found = analysis.answer(record)
    assert found is not None
    assert (found.first, found.last) == (4, 5)  # 0.2 x 0.6 = 0.12, 0.4 x 0.1 = 0.04
    assert found.probability == pytest.approx(0.12, rel=1e-4)
    start, end = record.source.spans[4], record.source.spans[5]
    assert start is not None
    assert end is not None
    assert found.text == record.source_text[start[0] : end[1]].strip()
    assert found.text in analysis.sentence(record)
    assert "no answer" not in analysis.sentence(record)


def test_a_model_may_find_no_answer() -> None:
    assert "no answer" in analysis.sentence(asked({0: 0.9, 4: 0.1}, {0: 0.9, 5: 0.1}))


def test_without_a_second_text_it_says_what_is_missing() -> None:
    record = replace(asked({4: 1.0}, {5: 1.0}), pair_text=None)
    assert analysis.answer(record) is None
    assert "second text" in analysis.sentence(record)


def test_a_table_has_a_line_for_each_label_or_token() -> None:
    record = stand_in.record(kind="encoder")
    logits = np.log(np.array([[0.2, 0.8]], np.float32))
    text = replace(record, prediction=Prediction("text", ("bad", "good"), logits))
    assert analysis.table(text)["probability"].tolist() == pytest.approx([0.2, 0.8])
    assert "says “good”, with a probability of 80.0%" in analysis.sentence(text)
    every = Prediction("tokens", ("O", "NAME"), np.tile(logits, (len(record.source), 1)))
    frame = analysis.table(replace(record, prediction=every))
    assert set(frame["label"]) == {"NAME"}
    assert len(frame) == len(record.source)
    with pytest.raises(SettingError, match="no prediction"):
        analysis.table(record)


def test_what_becomes_of_a_prediction_by_hand() -> None:
    """Two labels at 80 and 20 percent, then at 40 and 60; their logits are log 4 and 0, then log 2 and log 3."""
    one, two = (
        Prediction("text", ("good", "bad"), np.log(np.array([shares], np.float32))) for shares in ([4, 1], [2, 3])
    )
    found = analysis.change(one, two)
    assert found.divergence == pytest.approx(0.8 * np.log(0.8 / 0.4) + 0.2 * np.log(0.2 / 0.6), abs=1e-6)
    assert found.log_probability == pytest.approx(np.log(0.4 / 0.8), abs=1e-6)
    assert found.margin == pytest.approx(np.log(2 / 3) - np.log(4), abs=1e-6)
    assert found.turned == 1
    assert np.isnan(found.value)


def test_the_share_of_what_turned_by_hand() -> None:
    rows = np.array([[2, 1], [0, 3], [4, 1], [1, 0]], np.float32)
    one, two = (Prediction("tokens", ("O", "NAME"), values) for values in (rows, rows[:, ::-1].copy()))
    three = Prediction("tokens", ("O", "NAME"), np.array([[2, 1], [3, 0], [4, 1], [1, 0]], np.float32))
    assert analysis.turned(one, two) == 1
    assert analysis.turned(one, three) == 0.25
    assert analysis.turned(one, three, np.array([True, False, True, True])) == 0
    ends = [np.zeros((3, 2), np.float32) for _ in range(2)]
    ends[0][[0, 2], [0, 1]], ends[1][[1, 2], [0, 1]] = 1, 1  # the start moves, the end does not
    before, after = (Prediction("answer", ENDS, logits) for logits in ends)
    assert analysis.turned(before, after) == 0.5
    both, first = (Prediction("text", ("a", "b"), np.array([row], np.float32), "sigmoid") for row in ([1, 2], [1, -2]))
    assert analysis.turned(both, first) == 0.5


def test_a_value_changes_by_its_own_unit() -> None:
    one, two = (Prediction("text", ("x", "y"), np.array([value], np.float32), "none") for value in ([1, 5], [2, 3]))
    assert analysis.value_change(one, two) == -2
    found = analysis.change(one, two)
    assert found.value == -2
    assert np.isnan([found.divergence, found.log_probability, found.margin, found.turned]).all()
    assert np.isnan(analysis.change(None, two).value)


def test_labels_that_do_not_exclude_each_other_are_all_named() -> None:
    record = stand_in.record(kind="encoder")
    several = Prediction("text", ("a", "b", "c"), np.array([[2.0, 1.0, -1.0]], np.float32), "sigmoid")
    said = analysis.sentence(replace(record, prediction=several))
    assert "a (88.1%), b (73.1%)" in said
    assert "c (" not in said
