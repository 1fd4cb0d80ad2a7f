"""Masks as squares: open and closed cells, the numbers added, the weights left."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bartviz
from bartviz.drawing import axes
from bartviz.errors import SettingError
from bartviz.features.masks.figure import VIEWS, View, shared_size, square
from bartviz.features.masks.figure_patterns import gallery, row_bars, svg
from bartviz.record.record import Reading, Record
from tests.support import records, stand_in

TOKENS = stand_in.tokens(("<s>", "a", "b"))
READINGS: tuple[Reading, ...] = get_args(Reading)
CAUSAL = np.tri(3).astype(np.bool_)


def trace(figure: go.Figure, name: str, kind: str = "heatmap") -> Any:
    (found,) = figure.select_traces({"name": name, "type": kind})
    return found


def test_open_cells_are_drawn_and_closed_ones_are_gaps() -> None:
    figure = square(records.attention("decoder", TOKENS, TOKENS))
    np.testing.assert_array_equal(np.isnan(trace(figure, "open").z), ~CAUSAL)
    assert "may look at" in trace(figure, "open").hovertemplate
    assert "may not look at" in trace(figure, "masked").hovertemplate


@pytest.mark.parametrize(
    ("number", "told"), [("-10,000", "-1e+04"), ("-1e9", "-1e+09"), ("lowest", "-3.4e+38"), ("-inf", "-inf")]
)
def test_added_numbers_are_zero_or_the_chosen_one(number: str, told: str) -> None:
    figure = square(records.attention("decoder", TOKENS, TOKENS), view="additive", number=number)
    assert trace(figure, "open").z[CAUSAL].tolist() == [0] * 6
    assert f"{told} is added" in trace(figure, "masked").hovertemplate
    written = trace(figure, "numbers", "scatter").text
    assert [text == "0" for text in written] == CAUSAL.ravel().tolist()


def test_bias_of_a_head_is_added_where_a_row_may_look() -> None:
    own = records.attention("decoder", TOKENS, TOKENS, bias=True)
    assert own.bias is not None
    figure = square(own, view="additive", head=1)
    np.testing.assert_array_equal(trace(figure, "open").z[CAUSAL], own.bias[1][CAUSAL])
    assert trace(figure, "open").showscale is not False
    assert "bias" in trace(figure, "open").colorbar.title.text


def test_rows_of_decoders_are_named_by_what_they_predict_if_asked() -> None:
    record = records.encoder_decoder(("a", "b"), ("x", "y", "z"))
    rows = {
        reading: [axis.ticktext for axis in bartviz.figures.masks(record, reading=reading).select_yaxes()]
        for reading in READINGS
    }
    assert rows["predicts"].count(("x", "y", "z")) == 4  # two axes of two squares
    assert ("x", "y", "z") not in rows["reads"]
    assert ("a", "b") in rows["predicts"]


def test_weights_after_the_softmax_are_those_of_the_head() -> None:
    own = records.attention("decoder", TOKENS, TOKENS)
    z = trace(square(own, view="weights", layer=1, head=2), "weights").z
    np.testing.assert_array_equal(z[CAUSAL], own.head(1, 2)[CAUSAL])


def test_layer_and_head_are_clamped_to_each_kind() -> None:
    record = records.encoder_decoder(layers=(3, 1), heads=(4, 2))
    figure = bartviz.figures.masks(record, view="weights", layer=2, head=3)
    drawn = [one for one in figure.data if one.name == "weights"]
    assert record.encoder is not None
    assert record.decoder is not None
    np.testing.assert_array_equal(drawn[0].z, record.encoder.head(2, 3))
    np.testing.assert_array_equal(drawn[1].z[0, 0], record.decoder.head(0, 1)[0, 0])


def test_squares_are_side_by_side_with_their_own_axes() -> None:
    figure = bartviz.figures.masks(records.encoder_decoder())
    assert [note.text for note in figure.layout.annotations] == ["Encoder", "Decoder", "Cross-attention"]
    layout = figure.layout
    assert layout.xaxis.domain[1] < layout.xaxis3.domain[0] < layout.xaxis3.domain[1] < layout.xaxis5.domain[0]
    assert (layout.xaxis6.overlaying, layout.xaxis6.matches, layout.yaxis5.scaleanchor) == ("x5", "x5", "x5")
    assert [one.xaxis for one in figure.data if one.name == "open"] == ["x", "x3", "x5"]


def test_long_texts_are_drawn_in_blocks() -> None:
    tokens = stand_in.tokens([f"t{i}" for i in range(401)])
    own = records.attention("decoder", tokens, tokens, layers=1, heads=1)
    assert trace(square(own), "open").z.shape == (134, 134)
    assert len(square(own).to_json()) < 400_000


def test_unknown_views_and_numbers_are_refused() -> None:
    with pytest.raises(SettingError, match="pattern, additive or weights"):
        bartviz.figures.masks(records.encoder_only(), view="bits")  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="lowest or -inf"):
        bartviz.figures.masks(records.encoder_only(), number="-5")


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(records.records(), st.sampled_from(VIEWS), st.booleans())
def test_every_record_draws(record: Record, view: View, dark: bool) -> None:
    assert len(bartviz.figures.masks(record, view=view, dark=dark).layout.annotations) == len(record.kinds)


def test_gallery_names_each_pattern_and_fetches_nothing() -> None:
    html = gallery(8)
    assert html.count('<img src="data:image/svg+xml;base64,') == 9
    assert "BigBird" in html
    assert "http" not in html


def test_picture_has_one_little_square_for_each_open_cell() -> None:
    assert svg(CAUSAL, "decoder").count("h8v8h-8z") == 6


def test_bars_show_a_row_with_and_without_its_mask() -> None:
    before, after = np.array([0.5, 0.3, 0.2], np.float32), np.array([0.625, 0.375, 0], np.float32)
    figure = row_bars(before, after, TOKENS.labels, kind="decoder", mask=np.array([True, True, False]))
    np.testing.assert_array_equal(trace(figure, "closed", "bar").x, [2])
    np.testing.assert_array_equal(trace(figure, "nothing closed", "bar").y, before)
    np.testing.assert_array_equal(trace(figure, "with the pattern", "bar").y, after)
    assert figure.layout.xaxis.ticktext[0] == "&lt;s&gt;"


@pytest.mark.parametrize("view", VIEWS)
def test_squares_next_to_each_other_share_cells_and_height(view: View) -> None:
    short, long = stand_in.tokens(("<s>", "a")), stand_in.tokens(("<s>", "longest", "b", "c"))
    attentions = [records.attention("decoder", short, short), records.attention("encoder", long, long)]
    drawn = [square(one, view=view, height=300, within=shared_size(attentions)).layout for one in attentions]
    assert {tuple(one.xaxis.range) for one in drawn} == {(-0.5, 3.5)}
    assert {tuple(one.yaxis.range) for one in drawn} == {(3.5, -0.5)}
    assert len({(one.margin.l, one.margin.t) for one in drawn}) == 1
    assert tuple(square(attentions[0], view=view).layout.xaxis.range) == (-0.5, 1.5)


@pytest.mark.parametrize("number", ["-10,000", "-1e9", "lowest", "-inf"])
@pytest.mark.parametrize("length", [2, 8, 10])
def test_a_number_that_is_written_fits_into_its_cell(number: str, length: int) -> None:
    tokens = stand_in.tokens(tuple("abcdefghij"[:length]))
    figure = square(records.attention("decoder", tokens, tokens), view="additive", number=number, height=312)
    written = trace(figure, "numbers", "scatter")
    cell = axes.map_size(length, length, small=True)[0] / length
    assert max(map(len, written.text)) * 0.6 * written.textfont.size <= cell
    assert set(written.text) == {"0", {"lowest": "−∞", "-inf": "−∞", "-1e9": "−10⁹", "-10,000": "−10⁴"}[number]}


@pytest.mark.parametrize("view", VIEWS)
def test_the_chosen_row_always_has_its_label(view: View) -> None:
    tokens = stand_in.tokens(tuple(f"word{at}" for at in range(27)))
    attention = records.attention("decoder", tokens, tokens)
    for row in range(27):
        axis = square(attention, view=view, row=row, height=312).layout.yaxis2
        ticks = list(axis.tickvals)
        assert row in ticks
        assert f"word{row}" in axis.ticktext[ticks.index(row)]
        least = axes.LABEL * 27 / axes.map_size(27, 27, small=True)[1]
        assert all(abs(other - row) >= least for other in ticks if other != row)  # none is drawn over it
