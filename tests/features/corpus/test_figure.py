"""The mosaic and the points of an atlas: the numbers of its table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from bartviz import figures
from bartviz.drawing import theme
from bartviz.drawing.colors import LIGHT
from bartviz.errors import SettingError
from bartviz.record.attention import Head
from tests.support.contrast import contrast


def table() -> pd.DataFrame:
    random = np.random.default_rng(0)
    lines = []
    for kind, measure in (
        ("encoder", "previous"),
        ("encoder", "entropy"),
        ("cross", "entropy"),
        ("cross", "alignment"),
    ):
        for layer, head in np.ndindex(2, 3):
            mean = random.random()
            even = np.nan if measure == "alignment" else 0.25
            lines.append((kind, layer, head, measure, 40, mean, 0.2, mean - 0.1, mean + 0.05, even))
    columns = ["kind", "layer", "head", "measure", "n", "mean", "sd", "low", "high", "even"]
    return pd.DataFrame(lines, columns=columns).sample(frac=1, random_state=1)


def trace(figure: go.Figure, name: str) -> Any:
    (found,) = figure.select_traces({"name": name})
    return found


@pytest.mark.parametrize(("measure", "kind"), [("previous", None), ("entropy", "cross"), ("alignment", None)])
def test_every_head_has_its_mean_and_its_interval(measure: str, kind: Any) -> None:
    heads = table()
    figure = figures.atlas(heads, measure=measure, kind=kind)
    wanted = "cross" if measure == "alignment" else kind or "encoder"
    rows = heads[(heads["measure"] == measure) & (heads["kind"] == wanted)].sort_values(["layer", "head"])
    mean = rows["mean"].to_numpy()
    np.testing.assert_allclose(np.ravel(trace(figure, measure).z), mean, rtol=1e-6)
    points = trace(figure, "heads")
    np.testing.assert_allclose(points.x, mean)
    np.testing.assert_allclose(points.x - points.error_x.arrayminus, rows["low"])
    np.testing.assert_allclose(points.x + points.error_x.array, rows["high"])
    assert list(figure.layout.yaxis2.ticktext) == [f"L{layer}H{head}" for layer in range(2) for head in range(3)]


@pytest.mark.parametrize("dark", [False, True])
def test_every_number_can_be_read_on_its_cell(dark: bool) -> None:
    figure = figures.atlas(table(), measure="previous", dark=dark)
    cells, numbers = trace(figure, "previous"), trace(figure, "numbers")
    scale = [list(stop) for stop in cells.colorscale]
    assert list(numbers.text) == [f"{value:.2f}" for value in np.ravel(cells.z)]
    for x, y, ink in zip(numbers.x, numbers.y, numbers.textfont.color, strict=True):
        cell = theme.at(scale, cells.z[y][x] / cells.zmax)
        assert contrast(ink, cell) >= 4.4


def test_the_dotted_line_is_even_attention_where_that_is_known() -> None:
    (line,) = figures.atlas(table(), measure="previous").select_shapes({"type": "line"})
    assert line.x0 == line.x1 == 0.25
    assert not list(figures.atlas(table(), measure="alignment").select_shapes({"type": "line"}))


def test_only_the_mosaic_stands_on_the_grey_of_gaps() -> None:
    figure = figures.atlas(table(), measure="previous")
    (ground,) = figure.select_shapes({"type": "rect"})
    assert (ground.xref, ground.yref, ground.layer) == ("x domain", "y domain", "below")
    assert ground.fillcolor == LIGHT.masked
    assert figure.layout.plot_bgcolor == LIGHT.background


def test_the_chosen_head_is_framed_and_has_a_line_through_its_interval() -> None:
    figure = figures.atlas(table(), measure="entropy", head=Head("cross", 1, 2))
    assert trace(figure, "cells").hovertemplate.startswith("<b>L%{y}H%{x}</b>")
    np.testing.assert_array_equal(
        trace(figure, "entropy").z, trace(figures.atlas(table(), measure="entropy", kind="cross"), "entropy").z
    )
    (frame,) = [shape for shape in figure.layout.shapes if shape.type == "rect" and shape.x0 == 1.5]
    assert (frame.x1, sorted((frame.y0, frame.y1))) == (2.5, [0.5, 1.5])
    (line,) = [shape for shape in figure.layout.shapes if shape.type == "line" and shape.yref == "y2"]
    assert (line.y0, line.y1) == (5, 5)  # the last of 2 x 3
    assert figure.layout.hoverdistance == -1  # so that a click anywhere in a cell chooses its head
    with pytest.raises(SettingError, match="cross L1H2 is no head of encoder attention"):
        figures.atlas(table(), measure="entropy", kind="encoder", head=Head("cross", 1, 2))
    with pytest.raises(SettingError, match="no head cross L1H3"):
        figures.atlas(table(), measure="entropy", head=Head("cross", 1, 3))
    with pytest.raises(SettingError, match="No decoder attention"):
        figures.atlas(table(), measure="entropy", head=Head("decoder", 1, 2))


def test_what_cannot_be_drawn_is_refused_with_the_choices() -> None:
    with pytest.raises(SettingError, match="open_atlas"):
        figures.atlas({"mean": 1})  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="open_atlas"):
        figures.atlas(pd.DataFrame({"mean": [1]}))
    with pytest.raises(SettingError, match="The measure is one of"):
        figures.atlas(table(), measure="nothing")
    with pytest.raises(SettingError, match="No cross attention has the measure previous: choose encoder"):
        figures.atlas(table(), measure="previous", kind="cross")


def test_shares_are_written_in_per_cent_where_they_are_asked_for_and_other_numbers_are_not() -> None:
    share, bits = (figures.atlas(table(), measure=measure, percents=True) for measure in ("previous", "entropy"))
    for figure, ends, ticks in ((share, True, ".0%"), (bits, False, None)):
        numbers = next(trace for trace in figure.data if trace.name == "numbers")
        assert all(text.endswith("%") == ends for text in numbers.text)
        assert figure.data[0].colorbar.tickformat == ticks
