"""Heads large and small: positions of the numbers, frames, and what a click reports."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given, settings

import bartviz
from bartviz.analysis.thumbnails import MASKED, ONE, Small, thumbnails
from bartviz.drawing.heads import overview
from bartviz.errors import SettingError
from bartviz.record.attention import Attention
from tests.support import records

RECORD = records.encoder_decoder(layers=(3, 2), heads=(2, 4))


def trace(figure: go.Figure, name: str) -> Any:
    (found,) = figure.select_traces({"name": name})
    return found


def test_with_layer_and_head_it_is_one_large_map() -> None:
    assert RECORD.cross is not None
    figure = bartviz.figures.heads(RECORD.cross, layer=1, head=3)
    np.testing.assert_array_equal(trace(figure, "weights").z, RECORD.cross.head(1, 3))
    assert figure.layout.annotations[0].text == "cross L1H3."


def test_with_hidden_sinks_the_title_says_their_share() -> None:
    assert RECORD.cross is not None
    figure = bartviz.figures.heads(RECORD.cross, layer=1, head=3, hide_sinks=True)
    assert "of the attention went to “&lt;s&gt;” “.” “&lt;/s&gt;”, hidden" in figure.layout.annotations[0].text.replace(
        "<br>", " "
    )


def test_all_heads_are_shown_with_layers_down_and_heads_across() -> None:
    assert RECORD.cross is not None
    figure = bartviz.figures.heads(RECORD.cross)
    points = trace(figure, "heads")
    assert points.customdata[:, :2].tolist() == [[layer, head] for layer in range(2) for head in range(4)]
    np.testing.assert_allclose(points.customdata[5, 2], RECORD.cross.head(1, 1).max())
    assert figure.layout.xaxis.ticktext == ("H0", "H1", "H2", "H3")
    assert figure.layout.yaxis.ticktext == ("L0", "L1")


def test_each_small_map_is_where_its_name_is() -> None:
    assert RECORD.cross is not None
    image = trace(bartviz.figures.heads(RECORD.cross), "small maps")
    small = thumbnails(RECORD.cross).cells
    rows, columns = small.shape[2:]
    high, wide = round(1 / image.dy), round(1 / image.dx)
    np.testing.assert_array_equal(image.z[high : high + rows, 2 * wide : 2 * wide + columns], small[1, 2])
    assert image.z.dtype == np.uint8


def test_one_layer_stands_in_several_lines() -> None:
    assert RECORD.cross is not None
    figure = bartviz.figures.heads(RECORD.cross, layer=1)
    points = trace(figure, "heads")
    assert points.customdata[:, :2].tolist() == [[1, 0], [1, 1], [1, 2], [1, 3]]
    assert points.y.max() > 1
    assert "layer 1" in figure.layout.xaxis.title.text


def test_masked_blocks_are_grey_and_weights_are_not() -> None:
    assert RECORD.decoder is not None
    image = trace(bartviz.figures.heads(RECORD.decoder), "small maps")
    stops = {place * MASKED: color for place, color in image.colorscale}
    assert stops[MASKED] == "#e9eaec"
    assert stops[ONE] == image.colorscale[7][1] != "#e9eaec"
    assert image.z.max() == MASKED == image.zmax


def test_all_heads_of_a_large_model_stay_within_six_hundred_kilobytes() -> None:
    cells = np.full((24, 16, 27, 27), MASKED, np.uint8)
    small = Small(cells, np.ones((24, 16), np.float32), tuple(range(24)), "fixed")
    assert len(overview(small, kind="decoder").to_json()) < 600_000


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(records.attentions())
def test_every_attention_draws(own: Attention) -> None:
    assert len(trace(bartviz.figures.heads(own), "heads").x) == own.shape[0] * own.shape[1]
    assert len(trace(bartviz.figures.heads(own, layer=0), "heads").x) == own.shape[1]
    large = bartviz.figures.heads(own, layer=0, head=0, words=True, hide_sinks=True)
    assert np.nansum(trace(large, "weights").z) <= own.shape[2] + 1e-3


def test_a_mean_is_drawn_large_and_called_a_mean() -> None:
    assert RECORD.encoder is not None
    figure = bartviz.figures.heads(RECORD.encoder, layer=1, mean=True)
    np.testing.assert_array_equal(trace(figure, "weights").z, RECORD.encoder.layer(1).mean(axis=0))
    assert figure.layout.annotations[0].text == "mean of the 2 heads of encoder layer 1."
    with pytest.raises(SettingError, match="leave one of the two out"):
        bartviz.figures.heads(RECORD.encoder, layer=1, head=1, mean=True)


def test_rows_that_are_named_by_what_they_predict_say_so() -> None:
    assert RECORD.cross is not None
    read = bartviz.figures.heads(RECORD.cross, layer=1, head=1)
    predicted = bartviz.figures.heads(RECORD.cross, layer=1, head=1, query=RECORD.rows("cross", "predicts"))
    titles = [figure.layout.yaxis.title.text or figure.layout.yaxis2.title.text for figure in (read, predicted)]
    assert titles == ["← query: attends from", "← query: row predicts"]  # as they are turned
