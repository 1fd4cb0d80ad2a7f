"""The numbers in the figures of an edit: powers of ten, and a 0 only where nothing changed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bartviz import figures
from bartviz.drawing import axes, theme
from bartviz.errors import SettingError
from bartviz.features.experiments.figure import reach as reach_figure
from bartviz.features.experiments.figure_panels import BAR, CELL, LEAST
from tests.analysis.test_edits import edit, reach
from tests.support import stand_in


@pytest.mark.parametrize("dark", [False, True])
def test_states_are_drawn_in_powers_of_ten_with_their_zeros(dark: bool) -> None:
    figure = figures.edits(edit(), dark=dark)
    encoder, decoder = (trace for trace in figure.data if trace.type == "heatmap")
    assert np.isnan(encoder.z).all()
    np.testing.assert_allclose(decoder.z[1, 3:], np.log10(0.25), rtol=1e-6)
    np.testing.assert_allclose(decoder.customdata, edit().hidden["decoder"])
    zeros = [len(trace.x) for trace in figure.data if trace.name == "exactly 0"]
    assert zeros == [36, 36 - 1 - 3 * 6]


def test_the_changed_token_is_framed_in_its_own_stack_alone() -> None:
    figure = figures.edits(edit())
    (box,) = figure.layout.shapes
    assert (box.xref, box.x0, box.x1) == ("x2", 2.5, 3.5)


def test_rows_of_attention_are_means_over_heads() -> None:
    figure = figures.edits(edit(), view="attention", kinds=["cross"])
    (cells,) = (trace for trace in figure.data if trace.type == "heatmap")
    np.testing.assert_allclose(cells.customdata[:, 3:], 0.5)
    assert np.isnan(cells.z[:, :3]).all()


def test_outputs_are_bars_and_a_network_without_words_has_none() -> None:
    before, after, _ = figures.edits(edit(), view="outputs").data
    np.testing.assert_allclose(before.y[3:] / after.y[3:], np.e, rtol=1e-5)
    with pytest.raises(SettingError, match="does not predict tokens"):
        figures.edits(replace(edit(), before=None), view="outputs")
    with pytest.raises(SettingError, match="encodings"):
        figures.edits(edit(), view="sideways")  # type: ignore[arg-type]


def test_three_masks_side_by_side() -> None:
    figure = figures.edits(reach())
    assert [trace.name for trace in figure.data if trace.type == "heatmap"] == [
        "Bidirectional: all open",
        "Window of 1 on each side",
        "Causal",
    ]
    one = reach_figure(reach(), masks=["causal"], place=5)
    assert one.data[0].colorbar.title.text == "relative change"
    assert reach_figure(reach(), masks=["causal"], bar=False).data[0].showscale is False
    assert sum(shape.x0 == 4.5 for shape in one.layout.shapes) == 3


def test_odd_tokens_are_escaped() -> None:
    found = reach()
    odd = replace(found, tokens=stand_in.tokens(("<b>", "%{z}", "a", "a", "<s>", " x")))
    ticks = figures.edits(odd).layout.xaxis.ticktext
    assert ticks[0] != "<b>"
    assert "%{" not in "".join(ticks)
    assert ticks[2] == ticks[3]


def test_in_long_texts_zeros_are_grey_and_their_hover_text_has_the_token() -> None:
    """A hundred written zeros run into each other, and the palest colour is no better than a gap."""
    short = figures.edits(reach())
    assert short.layout.plot_bgcolor == theme.palette(False).background
    assert all(trace.hoverongaps for trace in short.data if trace.type == "heatmap")
    long = replace(
        reach(),
        tokens=stand_in.tokens([f"t{i}" for i in range(120)]),
        changes={name: np.tile(change, 20) for name, change in reach().changes.items()},
    )
    for dark in (False, True):
        figure = figures.edits(long, dark=dark)
        assert not [trace for trace in figure.data if trace.name == "exactly 0"]
        assert figure.layout.plot_bgcolor == theme.palette(dark).masked
        assert theme.palette(dark).masked != theme.palette(dark).background


def test_labels_have_their_room_above_the_colour_bar_and_rows_their_height() -> None:
    """In large type, too: a bar whose distance is a share of the grid's height ran into the labels there."""
    for labels in (("a", "b", "c"), ("uncomfortable", "a", "ab")):
        tokens = stand_in.tokens((*labels, "<s>", "b", "c"))
        for bar in (True, False):
            figure = reach_figure(replace(reach(), tokens=tokens), masks=["causal"], bar=bar)
            layers = len(reach().changes["causal"])
            for factor in (1.0, 1.4):
                drawn = theme.enlarged(figure, factor)
                plot = drawn.layout.height - drawn.layout.margin.t - drawn.layout.margin.b  # pixels
                assert plot >= max(layers * CELL, LEAST) - 1
                if bar:
                    place = drawn.data[0].colorbar
                    assert (place.yref, place.y, place.yanchor) == ("container", 0, "bottom")
                below = drawn.layout.margin.b - BAR * factor
                longest, size = max(map(len, labels)), 13 * factor**0.5  # letters, pixels
                text = size * (0.62 * longest if longest > 3 else 1.25)  # upright or level
                assert below >= axes.STANDOFF + text + 6


def test_a_map_in_which_nothing_moved_has_its_bar_too() -> None:
    """Its rows are then as high as those of the map beside it; plotly leaves out the bar of a map of gaps."""
    still, moved = (figures.edits(edit(), kinds=[kind]) for kind in ("encoder", "decoder"))
    (scale,) = (trace for trace in still.data if trace.name == "scale")
    own, other = scale.marker.colorbar, moved.data[0].colorbar
    assert (own.tickvals, own.ticktext, own.len) == (other.tickvals, other.ticktext, other.len)
    assert (scale.marker.cmin, scale.marker.cmax) == (moved.data[0].zmin, moved.data[0].zmax)
    assert "scale" not in [trace.name for trace in moved.data]
