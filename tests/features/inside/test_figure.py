"""The figures of the inside page: numbers, escaped tokens, hatched masked keys, the other keys as one row."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given, settings

from bartviz import figures
from bartviz.analysis import contributions, scaling
from bartviz.analysis import inside as analysis
from bartviz.drawing import theme
from bartviz.errors import SettingError
from bartviz.features.inside import figure_around_attention as around_attention
from bartviz.features.inside import figure_products as products
from bartviz.features.inside.figure import arithmetic
from bartviz.features.inside.figure_arithmetic import ASKED, MARGIN, PARTS, WIDE_GAP
from bartviz.record.attention import Attention
from tests.support import records, stand_in


def trace(figure: go.Figure, name: str) -> Any:
    return next(one for one in figure.data if one.name == name)


def causal(rows: int = 5, bias: bool = False) -> Attention:
    tokens = stand_in.tokens([f"t{i}" for i in range(rows)])
    return records.attention("decoder", tokens, tokens, bias=bias)


def test_every_panel_holds_the_numbers_of_the_row() -> None:
    attention = causal()
    figure = figures.inside(attention, 1, 2, row=4)
    one = analysis.inside(attention, 1, 2, 4)
    output = contributions.context(attention, 1, 2)[4]
    np.testing.assert_array_equal(trace(figure, "q").z, one.q[None])
    np.testing.assert_array_equal(trace(figure, "k").z, one.k)
    np.testing.assert_allclose(trace(figure, "q × k").z.sum(axis=1), one.dots, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(trace(figure, "scaled").x, one.scores, rtol=1e-6)
    np.testing.assert_allclose(trace(figure, "weight").x, one.weights, rtol=1e-6)
    assert trace(figure, "weight").text[0] == f"{one.weights[0]:.3f}"
    np.testing.assert_allclose(trace(figure, "weight × v").z.sum(axis=0), output, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(trace(figure, "output").z[0], output, rtol=1e-4, atol=1e-5)


def test_a_bias_has_a_panel_of_its_own() -> None:
    attention = causal(bias=True)
    figure, one = figures.inside(attention, 0, 0, row=4), analysis.inside(attention, 0, 0, 4)
    np.testing.assert_allclose(
        np.add(trace(figure, "scaled").x, trace(figure, "bias").x), trace(figure, "score").x, rtol=1e-5
    )
    np.testing.assert_allclose(trace(figure, "score").x, one.scores, rtol=1e-6)


def _from_the_top(figure: go.Figure) -> list[int]:
    """The places of the first and the last row, in pixels: rows that stand beside each other are level."""
    inner = figure.layout.height - MARGIN["t"] - MARGIN["b"]
    return [round((1 - place) * inner) for place in reversed(figure.layout.yaxis.domain)]


def test_the_output_stands_below_the_values_that_it_is_the_sum_of() -> None:
    figure = figures.inside(causal(), 0, 0, row=4)
    assert trace(figure, "output").yaxis == "y3"
    assert trace(figure, "output").xaxis == trace(figure, "weight × v").xaxis == figure.layout.yaxis3.anchor
    assert figure.layout.yaxis3.domain[1] < figure.layout.yaxis.domain[0] < figure.layout.yaxis2.domain[0]


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("plain", [True, False])
def test_the_parts_of_the_row_are_together_the_whole_row(bias: bool, plain: bool) -> None:
    """Each trace and each caption is in one of them, in the axes and with the number that it has in the whole."""
    one = analysis.inside(causal(bias=bias), 0, 0, 4)
    shown = analysis.shown(one)
    whole = arithmetic(one, shown, 2, plain=plain)
    parts = [arithmetic(one, shown, 2, plain=plain, part=part) for part in range(len(PARTS))]
    drawn = [(trace.name, trace.xaxis, trace.yaxis) for part in parts for trace in part.data]
    assert sorted(drawn) == sorted((trace.name, trace.xaxis, trace.yaxis) for trace in whole.data)
    for part, above in zip(parts, (0, ASKED, ASKED), strict=True):  # the page's style leaves that room above the others
        assert [above + place for place in _from_the_top(part)] == _from_the_top(whole)
    for number, caption in enumerate(whole.layout.annotations):
        assert {part.layout.annotations[number].text for part in parts} == {caption.text}
        assert [part.layout.annotations[number].visible for part in parts].count(None) == 1
    assert all(part.layout.yaxis.ticktext == whole.layout.yaxis.ticktext for part in parts)


@pytest.mark.parametrize(
    ("scale", "said"), [(32**-0.5, "row sum ÷ √32 =<br><b>score</b>"), (1.0, "row sum =<br><b>score</b>")]
)
def test_a_beginner_reads_by_which_root_the_sum_is_divided(scale: float, said: str) -> None:
    one = analysis.inside(replace(causal(), scale=scale), 0, 0, 4)
    notes = arithmetic(one, analysis.shown(one), 2, plain=True).layout.annotations
    captions = [re.sub("</?span.*?>", "", note.text) for note in notes]  # the root is drawn close to its number
    assert sum(caption.startswith(said) for caption in captions) == 1


def test_a_masked_key_is_hatched_and_shows_no_score() -> None:
    figure = figures.inside(causal(), 0, 0, row=1)
    assert np.isnan(trace(figure, "scaled").x[2:]).all()
    assert trace(figure, "masked").fillpattern.shape == "/"
    assert list(trace(figure, "−∞").y) == [2, 3, 4]
    assert list(trace(figure, "weight").x[2:]) == [0, 0, 0]


@pytest.mark.parametrize("count", [9, 14, 24, 40])
def test_the_row_of_arithmetic_fits_a_laptops_screen(count: int) -> None:
    tokens = stand_in.tokens([f"t{i}" for i in range(count)])
    figure = figures.inside(records.attention("encoder", tokens, tokens), 0, 0)
    assert len(trace(figure, "weight").x) == min(count, 25)
    assert figure.layout.height <= 600


def test_many_keys_become_twenty_four_and_a_row_of_others() -> None:
    tokens = stand_in.tokens([f"t{i}" for i in range(40)])
    attention = records.attention("encoder", tokens, tokens)
    figure = figures.inside(attention, 0, 0, row=3)
    assert len(trace(figure, "weight").x) == 25
    assert trace(figure, "weight").x.sum() == pytest.approx(1, abs=1e-5)
    assert figure.layout.yaxis.ticktext[-1] == "<i>16 others</i>"
    output = contributions.context(attention, 0, 0)[3]
    np.testing.assert_allclose(trace(figure, "weight × v").z.sum(axis=0), output, rtol=1e-4, atol=1e-5)
    weights = np.exp(trace(figure, "scaled").x)
    np.testing.assert_allclose(weights / weights.sum(), trace(figure, "weight").x, rtol=1e-3, atol=1e-6)


def test_tokens_are_escaped() -> None:
    tokens = stand_in.tokens(("<b>x</b>", "%{z}", "&lt;"))
    figure = figures.inside(records.attention("encoder", tokens, tokens), 0, 0, row=0)
    spec = figure.to_json()
    assert "<b>x" not in spec.replace("\\u003c", "<")
    assert "%{z}," not in spec


def test_the_steps_of_the_products_end_at_their_sum() -> None:
    one = analysis.inside(causal(), 0, 1, 4)
    for by_size in (False, True):
        bars = products.products(one, 2, by_size=by_size).data[0]
        assert bars.base[-1] + bars.y[-1] == pytest.approx(one.dots[2], rel=1e-4, abs=1e-5)
        np.testing.assert_allclose(sorted(bars.y), sorted(one.products(2)), rtol=1e-6)
    assert list(bars.y) == sorted(bars.y, reverse=True)


def test_the_share_of_the_head_is_filled() -> None:
    attention = causal()
    figure = products.share(analysis.inside(attention, 0, 1, 4))
    assert trace(figure, "share").x.sum() == pytest.approx(1, abs=1e-5)
    fills = trace(figure, "share").marker.color
    assert fills[1] not in (fills[0], fills[2])
    expected = [contributions.head_outputs(attention, 0)[1, 4], contributions.output(attention, 0)[4]]
    np.testing.assert_allclose(trace(figure, "output").z, expected, rtol=1e-4, atol=1e-5)


def test_sixty_four_heads_still_fit_a_screen() -> None:
    tokens = stand_in.tokens(("a", "b"))
    figure = products.share(analysis.inside(records.attention("encoder", tokens, tokens, heads=64), 0, 7, 1))
    assert figure.layout.height < 600
    assert len(figure.layout.yaxis.ticktext) == 16


def test_histograms_are_shares() -> None:
    figure = around_attention.scaling(scaling.scaling(causal(30), 0), "decoder")
    assert len(figure.data) == 4
    for one in figure.data:
        assert sum(one.y) == pytest.approx(1)


@pytest.mark.parametrize(("name", "lines"), [("gelu", 2), ("relu", 2), ("swish", 3), ("gelu_new", 3), ("unheard", 2)])
def test_the_models_own_activation_is_named(name: str, lines: int) -> None:
    figure = around_attention.activation(name)
    assert len(figure.data) == lines
    assert sum("this model's" in one.name for one in figure.data) == (name != "unheard")


@pytest.mark.parametrize("pre", [True, False])
def test_the_models_own_order_is_named(pre: bool) -> None:
    words = [note.text for note in around_attention.norms(pre, "encoder").layout.annotations]
    assert f"<b>{'pre' if pre else 'post'}-norm</b> · this model" in words


def test_a_head_that_is_not_there_is_refused() -> None:
    with pytest.raises(SettingError, match="choose 0 to"):
        figures.inside(causal(), 0, 9)


@pytest.mark.slow
@settings(max_examples=25)
@given(records.attentions())
def test_any_attention_is_drawn(attention: Attention) -> None:
    one = analysis.inside(attention, 0, 0, 0)
    for dark in (False, True):
        figure = arithmetic(one, analysis.shown(one, "near", 4), one.strongest, dark=dark)
        assert figure.layout.height > 0
        products.share(one, dark=dark)
    around_attention.scaling(scaling.scaling(attention, 0, 0), attention.kind)


def test_a_wholly_masked_row_is_grey() -> None:
    """Its weights come out uniform and look real."""
    tokens = stand_in.tokens([f"t{i}" for i in range(4)])
    closed = records.attention("encoder", tokens, tokens, padding=4)
    for dark in (False, True):
        weights = trace(figures.inside(closed, 0, 0, dark=dark), "weight")
        assert set(weights.marker.color) == {theme.palette(dark).masked}
        assert len(trace(figures.inside(closed, 0, 0, dark=dark), "−∞").y) == 4


@pytest.mark.parametrize(("bias", "width"), [(True, 470), (False, 260), (False, 300)])
def test_the_numbers_beside_bars_keep_off_those_of_the_next_panel(bias: bool, width: int) -> None:
    """On a laptop and on a phone, of five letters each 7.3 pixels wide, between bars of both signs."""
    one = analysis.inside(causal(9, bias=bias), 0, 0, 8)
    figure = arithmetic(one, analysis.shown(one), 2, part=1)
    for name in ("scaled", "bias", "score") if bias else ("scaled",):
        bars = trace(figure, name)
        axis = figure.layout["xaxis" + bars.xaxis.removeprefix("x")]
        pixels = width * (axis.domain[1] - axis.domain[0]) / (axis.range[1] - axis.range[0])
        for end, value in ((axis.range[0], bars.x.min()), (axis.range[1], bars.x.max())):
            if value * end > 0:
                assert abs(end - value) * pixels + width * WIDE_GAP / 2 >= 5 * 7.3


def test_what_a_head_and_its_layer_add_is_named_above_and_not_across_the_bars() -> None:
    figure = products.share(analysis.inside(causal(), 0, 1, 4))
    notes = [(note.text, note.xref, note.y) for note in figure.layout.annotations]
    assert notes == [("this head, H1", "x2 domain", -0.5), ("all heads + bias", "x2 domain", 0.5)]
    assert figure.layout.yaxis2.showticklabels is False
    strips = trace(figure, "output")
    assert strips.ygap / 2 >= 13 * 1.4  # a line of this size
    assert [row[0] for row in strips.customdata] == ["this head, H1", "all heads + bias"]
