"""The bars of weights and contributions, and the heads as points: numbers, words, and what is left out."""

from __future__ import annotations

import numpy as np
import pytest

from bartviz.drawing import theme
from bartviz.features.pitfalls import figure as figures
from bartviz.features.pitfalls import numbers as pitfalls
from bartviz.features.pitfalls.numbers_experiment_findings import Quiet
from bartviz.record.attention import Head
from tests.support import stand_in


def gap(weights: list[float], shares: list[float]) -> pitfalls.Gap:
    first, second = (np.array(one, np.float32) for one in (weights, shares))
    return pitfalls.Gap(Head("cross", 1, 2), 0, first, second, int(first.argmax()), int(second.argmax()), 0.5)


@pytest.mark.parametrize("dark", [False, True])
def test_two_bars_for_each_key(dark: bool) -> None:
    found = gap([0.7, 0.2, 0.1], [0.1, 0.3, 0.6])
    drawn = figures.weights_and_contributions(found, ("<s>", "b&c", "%{x}"), dark=dark)
    np.testing.assert_allclose(drawn.data[0].y, found.weights)
    np.testing.assert_allclose(drawn.data[1].y, found.shares)
    assert list(drawn.layout.xaxis.ticktext) == ["&lt;s&gt;", "b&amp;c", "&#37;{x}"]


def test_of_many_keys_the_twelve_with_the_largest_bars_stay_in_the_order_of_the_text() -> None:
    weights = [0.01] * 20
    weights[3], weights[17] = 0.5, 0.3
    drawn = figures.weights_and_contributions(gap(weights, [0.05] * 20), [str(at) for at in range(20)])
    shown = list(drawn.layout.xaxis.ticktext)
    assert len(shown) == 12
    assert shown == sorted(shown, key=int)
    assert {"3", "17"} <= set(shown)


def test_a_key_that_the_mask_closes_has_no_bars() -> None:
    drawn = figures.weights_and_contributions(gap([0.7, 0.3, 0.0], [0.4, 0.6, 0.0]), ("a", "b", "later"))
    assert drawn.layout.xaxis.ticktext == ("a", "b")


def test_a_key_has_the_colour_of_its_word_between_its_bars_and_its_label() -> None:
    drawn = figures.weights_and_contributions(gap([0.7, 0.3], [0.4, 0.6]), ("</s>", "car"), colors=(-1, 2))
    assert list(drawn.layout.xaxis.ticktext) == ["&lt;/s&gt;", "car"]
    (bar,) = drawn.layout.shapes
    assert bar.fillcolor == theme.word_color(2)
    assert bar.x0 < 1 < bar.x1
    assert 0 > bar.y1 > bar.y0 > -drawn.layout.xaxis.ticklen


def test_a_few_keys_have_their_numbers_on_their_bars_and_of_many_those_that_the_sentence_names() -> None:
    def numbers(weights: list[float], shares: list[float]) -> list[list[str]]:
        drawn = figures.weights_and_contributions(gap(weights, shares), [str(at) for at in range(len(weights))])
        return [list(trace.text) for trace in drawn.data]

    assert numbers([0.7, 0.2, 0.1], [0.1, 0.3, 0.6]) == [["70%", "20%", "10%"], ["10%", "30%", "60%"]]
    assert numbers([0.5, 0.1, 0.1, 0.1, 0.1, 0.1], [0.2, 0.2, 0.3, 0.1, 0.1, 0.1]) == [
        ["50%", "", "10%", "", "", ""],
        ["20%", "", "30%", "", "", ""],
    ]


def test_every_head_is_a_point_and_the_quietest_is_ringed() -> None:
    heads = (Head("encoder", 0, 0), Head("encoder", 0, 1), Head("cross", 1, 0))
    found = Quiet(heads, np.array([0.2, 0.9, 0.6]), np.array([0.0, 0.01, -1.0]), 1)
    drawn = figures.sharp_and_silent(found)
    assert [trace.name for trace in drawn.data[:2]] == ["encoder", "cross"]
    assert list(drawn.data[0].text) == ["encoder L0H0", "encoder L0H1"]
    np.testing.assert_allclose(drawn.data[1].y, [-1.0])
    assert (drawn.data[2].x[0], drawn.data[2].y[0]) == (0.9, 0.01)
    (name,) = drawn.layout.annotations
    assert (name.text, name.x, name.y) == ("L0H1", 0.9, 0.01)
    low, high = drawn.layout.yaxis.range
    assert low < -1.0
    assert high > 0.1


def test_a_beginner_reads_percentages() -> None:
    found = Quiet((Head("encoder", 0, 0), Head("cross", 1, 0)), np.array([0.2, 0.9]), np.log([0.5, 1.1]), 1)
    drawn = figures.sharp_and_silent(found, plain=True, name="head 0 of layer 1")
    assert "nats" not in drawn.to_json()
    assert drawn.layout.yaxis.ticktext == ("60%", "80%", "100%") or "100%" in drawn.layout.yaxis.ticktext
    np.testing.assert_allclose(np.exp(drawn.layout.yaxis.tickvals) % 0.1 % 0.1, 0, atol=0.1)
    assert drawn.layout.annotations[0].text == "head 0 of layer 1"
    assert drawn.data[0].customdata[0] == "50%"
    wide = Quiet(found.heads, found.peak, np.array([-9.0, 3.0]), 1)
    assert len(figures.sharp_and_silent(wide, plain=True).layout.yaxis.tickvals) == 5


def test_without_a_sharp_head_nothing_is_ringed() -> None:
    found = Quiet((Head("encoder", 0, 0),), np.array([0.2]), np.array([0.0]), None)
    assert len(figures.sharp_and_silent(found).data) == 1


def test_a_record_draws() -> None:
    record = stand_in.record()
    found = pitfalls.gap(record)
    assert found is not None
    labels = record.attention(found.head.kind).key.labels
    assert len(figures.weights_and_contributions(found, labels).data) == 2
