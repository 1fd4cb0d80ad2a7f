"""The output layer of two dimensions and three words, by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from bartviz.analysis import output_layer as analysis
from bartviz.analysis.output_layer import OutputLayer


def small(chosen: int = 0) -> OutputLayer:
    """State (3, 4); rows (2, 0), (0, 1) and the bias 0, 1: logits 6 and 5. A third token has the logit 5."""
    return OutputLayer(
        model="m",
        step=0,
        reads="</s>",
        ids=np.array([7, 9]),
        labels=("Ich", "<b>"),
        chosen=chosen,
        state=np.array([3, 4], np.float32),
        rows=np.array([[2, 0], [0, 1]], np.float32),
        bias=np.array([0, 1], np.float32),
        recorded=np.array([6, 5], np.float32),
        rest=math.exp(-1),
        vocabulary=3,
        tied=True,
    )


def test_products_lengths_and_cosines() -> None:
    one = small()
    assert one.dots.tolist() == [6, 4]
    assert one.logits.tolist() == [6, 5]
    assert one.length == 5
    assert one.lengths.tolist() == [2, 1]
    assert one.cosines == pytest.approx([0.6, 0.8])


def test_softmax_counts_the_tokens_that_are_not_shown() -> None:
    one = small()
    total = 1 + 2 * math.exp(-1)
    assert one.exponentials == pytest.approx([1, math.exp(-1)])
    assert one.probabilities == pytest.approx([1 / total, math.exp(-1) / total])
    frame = analysis.table(one)
    assert frame["probability"].sum() == pytest.approx(1)
    assert frame["token"].tolist() == ["Ich", "<b>", "1 others"]


def test_the_error_is_relative_to_the_largest_logit() -> None:
    assert small().error == 0
    wrong = replace(small(), recorded=np.array([6, 5.6], np.float32))
    assert wrong.error == pytest.approx(0.1)
    assert not wrong.passed


def test_the_sentence_names_the_token_that_was_written() -> None:
    assert "“Ich” gets the largest logit, 6.00; after softmax that is 58%" in analysis.sentence(small())
    assert "“<b>” was written with a logit of 5.00, 21%; the largest is 6.00, of “Ich”" in analysis.sentence(small(1))
    assert "rows of the output matrix" in analysis.sentence(replace(small(), tied=False))
    assert "5.00 × length of the row 2.00 × cosine 0.600 = 6.00" in analysis.reason(small())
    assert "The bias adds +1.00" in analysis.reason(small(1))
    assert "multiplies the state by 0.2500" in analysis.reason(replace(small(), scale=0.25))


def test_a_row_without_length_has_the_cosine_0() -> None:
    assert replace(small(), rows=np.zeros((2, 2), np.float32)).cosines.tolist() == [0, 0]
