"""The picture of a lens: which token stands in which cell, and the number of its colour."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
import pytest

from bartviz import figures
from bartviz.errors import SettingError
from tests.attribution.test_lens import by_hand


def parts(figure: go.Figure) -> tuple[go.Heatmap, list[go.Scatter]]:
    (heat,) = figure.select_traces({"name": "lens"})
    return heat, list(figure.select_traces({"name": "numbers"}))


def test_cells_have_first_choices_in_the_colour_of_the_records_token() -> None:
    one = by_hand()
    heat, (texts,) = parts(figures.lens(one))
    np.testing.assert_array_equal(heat.z, one.probability)
    cells = dict(zip(zip(texts.y, texts.x, strict=True), texts.text, strict=True))
    assert [cells[layer, 1] for layer in range(3)] == ["x", "b", "y"]
    assert "“b” is choice 2 here, 25%" in heat.customdata[0][1]
    assert heat.customdata[0][0].startswith("<b>embeddings</b><br>a 50%")
    assert heat.customdata[1][0].startswith("<b>after layer 0</b>")


def test_of_one_step_all_choices_are_shown_in_their_own_colours() -> None:
    one = by_hand()
    single = replace(
        one,
        rows=one.rows[:1],
        ids=one.ids[:1],
        steps=("a",),
        best=np.arange(6).reshape(3, 1, 2),
        labels=((("p", "q"),), (("a", "q"),), (("a", "r"),)),
        probabilities=np.array([[[0.6, 0.3]], [[0.5, 0.4]], [[0.9, 0.1]]], np.float32),
        probability=one.probability[:, :1],
        rank=one.rank[:, :1],
        entropy=one.entropy[:, :1],
    )
    figure = figures.lens(single, dark=True)
    heat, (texts,) = parts(figure)
    np.testing.assert_array_equal(heat.z, single.probabilities[:, 0])
    assert list(texts.text) == ["p", "q", "a", "q", "a", "r"]
    assert list(figure.layout.xaxis.ticktext) == ["choice 1", "choice 2"]
    assert heat.customdata.shape == (3, 2)


def test_of_many_steps_only_the_pointer_names_the_tokens() -> None:
    one = by_hand()
    long = replace(
        one,
        rows=np.arange(60),
        ids=np.arange(60),
        steps=("a",) * 60,
        best=np.repeat(one.best, 20, axis=1),
        labels=tuple(tuple(step for step in layer for _ in range(20)) for layer in one.labels),
        probabilities=np.repeat(one.probabilities, 20, axis=1),
        probability=np.repeat(one.probability, 20, axis=1),
        rank=np.repeat(one.rank, 20, axis=1),
        entropy=np.ones((3, 60), np.float32),
    )
    heat, texts = parts(figures.lens(long))
    assert texts == []
    assert heat.customdata.shape == (3, 60)


def test_something_else_is_refused() -> None:
    with pytest.raises(SettingError, match=r"the result of bartviz\.lens"):
        figures.lens("bart-tiny-en-de")  # type: ignore[arg-type]
