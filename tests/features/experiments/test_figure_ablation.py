"""The numbers in the figures of an ablation, not their pixels."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bartviz import figures
from bartviz.drawing import theme
from bartviz.features.experiments.figure_ablation import largest, moved, worth
from bartviz.language.percentages import of_before
from bartviz.record.attention import Head
from tests.analysis.test_ablation import ablation, sweep


def heat(figure: Any, name: str) -> Any:
    return next(trace for trace in figure.data if trace.type == "heatmap" and trace.name == name)


@pytest.mark.parametrize("dark", [False, True])
def test_a_sweep_is_drawn_with_its_numbers_and_even_colours(dark: bool) -> None:
    found = sweep()
    figure = figures.ablation(found, dark=dark)
    cells = heat(figure, "Cross heads")
    np.testing.assert_allclose(cells.customdata, found.map("cross"))
    assert cells.zmin == -cells.zmax == -2.5
    counted = heat(figures.ablation(found, measure="changed"), "Cross heads")
    assert counted.zmin == 0


def test_a_beginner_sees_what_is_left_of_the_probability() -> None:
    figure = worth({"cross": sweep()}, {}, clicks=True, plain=True)
    cells = heat(figure, "Cross heads")
    np.testing.assert_allclose(cells.customdata, np.exp(sweep().map("cross")), rtol=1e-6)
    assert cells.colorbar.title.text == "probability, before = 100%"
    assert cells.colorbar.ticktext[2] == "100%"
    assert not re.search("nats|log p", cells.hovertemplate)
    numbers = next(trace for trace in figure.data if trace.name == "numbers")
    assert numbers.text[0] == of_before(float(sweep().map("cross")[0, 0]))


def test_rounding_is_not_painted_as_an_effect() -> None:
    tiny = sweep([1e-6] * 8)
    assert largest(tiny, "log_probability") == 0.1


def test_heads_that_are_not_measured_say_so_and_chosen_ones_are_framed() -> None:
    figure = worth({"encoder": None}, {"encoder": (3, 4)}, chosen=[Head("encoder", 1, 2)], clicks=True)
    assert "not measured yet" in heat(figure, "Encoder heads").hovertemplate
    (box,) = figure.layout.shapes
    assert (box.x0, box.x1, box.y0, box.y1) == (1.5, 2.5, 0.5, 1.5)
    clicks = next(trace for trace in figure.data if trace.name == "cells")
    assert clicks.customdata[:, :2].tolist() == [[layer, head] for layer in range(3) for head in range(4)]


def test_one_ablation_is_two_bars_for_each_token() -> None:
    figure = figures.ablation(ablation([0.5, 0.5, 0.8], [0.5, 0.25, 0.8], [7, 3, 7]))
    before, after, named = figure.data
    np.testing.assert_allclose(before.y, [0.5, 0.5, 0.8], rtol=1e-6)
    np.testing.assert_allclose(after.y, [0.5, 0.25, 0.8], rtol=1e-6)
    assert named.x.tolist() == [1]
    assert named.text == ("→ b",)


@pytest.mark.parametrize("dark", [False, True])
def test_what_follows_has_the_colour_of_the_kind_that_was_silenced(dark: bool) -> None:
    found = ablation([0.5] * 3, [0.25] * 3, [7] * 3)
    first, other = Head("encoder", 1, 2), Head("cross", 0, 1)
    for heads, color in (
        ([first], theme.kind_color("encoder", dark)),
        ([other], theme.kind_color("cross", dark)),
        ([first, other], theme.palette(dark).ink),
    ):
        after = figures.ablation(replace(found, factors=dict.fromkeys(heads, 0.0)), dark=dark).data[1]
        assert after.marker.color == color


def test_attention_that_did_not_move_is_written_as_0() -> None:
    found = ablation([0.5] * 3, [0.5] * 3, [7] * 3)
    figure = moved(found, kinds=["encoder"])
    zeros = next(trace for trace in figure.data if trace.name == "exactly 0")
    assert len(zeros.x) == 12


def test_a_head_that_turns_no_token_is_written_as_0() -> None:
    figure = figures.ablation(sweep(), measure="changed")  # 0 0 0 0 of the encoder, 2 0 0 1 of cross-attention
    counts = [len(trace.x) for trace in figure.data if trace.name == "exactly 0"]
    assert counts == [4, 2]
    assert not [trace for trace in figures.ablation(sweep()).data if trace.name == "exactly 0"]


def test_small_effects_are_written_with_the_digits_that_they_need() -> None:
    """Cells of a tenth of the largest have a number: a KL of 0.004 is not .00, which would say that nothing changed."""
    small = np.array([0, 0.0004, 0.004, 0.011, 0, 0, 0.0022, 0], np.float32)
    found = replace(sweep(), divergence=small)
    figure = worth({"encoder": found}, {}, measure="divergence", clicks=True)
    numbers = next(trace for trace in figure.data if trace.name == "numbers")
    assert numbers.text == ("", "", ".004", ".011")
    figure = worth({"cross": sweep()}, {}, clicks=True)
    numbers = next(trace for trace in figure.data if trace.name == "numbers")
    assert numbers.text == ("−2.5", "", "", "−.30")
