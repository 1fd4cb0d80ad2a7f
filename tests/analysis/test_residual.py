"""A layer of two dimensions, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bartviz.analysis import residual as analysis
from bartviz.analysis.residual import Residual


def small() -> Residual:
    """(3, 4) + (0, 1) = (3, 5), and + (3, -9) = (6, -4); two of four inner numbers are above 0."""
    return Residual(
        model="m",
        stack="encoder",
        layer=1,
        row=0,
        token="<b>",
        norm="pre",
        before=np.array([3, 4], np.float32),
        added={"self-attention": np.array([0, 1], np.float32), "feed-forward": np.array([3, -9], np.float32)},
        states={"self-attention": np.array([3, 5], np.float32), "feed-forward": np.array([6, -4], np.float32)},
        inner=np.array([0, 1, 2, -0.1], np.float32),
        error=0.0,
    )


def test_lengths_and_cosines_in_the_order_of_the_sum() -> None:
    frame = analysis.table(small())
    assert frame["vector"].tolist() == [
        "before the layer",
        "self-attention adds",
        "after self-attention",
        "feed-forward adds",
        "after the layer",
    ]
    assert frame["length"].tolist() == pytest.approx([5, 1, 34**0.5, 90**0.5, 52**0.5])
    expected = [1, 0.8, 29 / (5 * 34**0.5), -27 / (5 * 90**0.5), 2 / (5 * 52**0.5)]
    assert frame["cosine with before"].tolist() == pytest.approx(expected)


def test_a_vector_without_length_has_the_cosine_0() -> None:
    assert analysis.cosine(np.zeros(2, np.float32), np.ones(2, np.float32)) == 0


def test_the_sentences_name_the_longest_part_and_the_order_of_norms() -> None:
    said = analysis.sentence(small())
    assert "“feed-forward” adds the longest vector, 9.49 compared with 5.00 before" in said
    assert "cosine of before and after is 0.06" in said
    said = analysis.feed_forward(small())
    assert "expands 2 numbers to 4, applies its activation (50% of the results are above 0)" in said
    assert "before each part" in said
    assert "follows each sum" in analysis.feed_forward(replace(small(), norm="post"))


def test_the_limit_of_the_check() -> None:
    assert small().passed
    assert not replace(small(), error=1e-3).passed
