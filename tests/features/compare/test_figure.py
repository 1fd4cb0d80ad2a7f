"""Scatter, matrix and difference: positions of the numbers, rings, and what a click reports."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given, settings

import bartviz
from bartviz.analysis import head_view
from bartviz.analysis.compare import TO_A, Field, field
from bartviz.analysis.distance import contrast, distances
from bartviz.analysis.measures import Measured, measures, of_record
from bartviz.arrays import Floats
from bartviz.drawing import theme
from bartviz.errors import SettingError
from bartviz.features.compare.figure import alike, compare, matrix, scatter
from bartviz.features.compare.figure_contrast import difference, pair, pin_color
from bartviz.features.compare.numbers_similar import likeness
from bartviz.record.attention import Attention
from tests.support import records, stand_in

RECORD = records.encoder_decoder(layers=(3, 2), heads=(2, 4))
CROSS = RECORD.attention("cross")
MEASURED = measures(CROSS)
PEAK, COVERAGE = field(MEASURED, "peak"), field(MEASURED, "coverage")


def trace(figure: go.Figure, name: str) -> Any:
    (found,) = figure.select_traces({"name": name})
    return found


def test_what_would_be_ignored_is_refused() -> None:
    other = RECORD.attention("encoder")
    of_two: list[dict[str, Any]] = [{"other": other}, {"other": other, "a": (0, 1)}, {"words": True}]
    for options in of_two:
        with pytest.raises(SettingError, match="name a and b"):
            compare(CROSS, **options)
    of_all: list[dict[str, Any]] = [{name: "entropy"} for name in ("x", "y", "color")]
    for options in (*of_all, {"measured": MEASURED}):
        with pytest.raises(SettingError, match="leave b out"):
            compare(CROSS, a=(0, 1), b=(1, 0), **options)


def apart(p: Floats, q: Floats) -> float:
    """The Jensen-Shannon distance of two rows, by its definition."""
    p, q = p.astype(float), q.astype(float)
    bits = [sum(a * np.log2(a / m) for a, m in zip(one, (p + q) / 2, strict=True) if a > 0) for one in (p, q)]
    return float(np.sqrt(sum(bits) / 2))


def test_distances_from_a_head_count_the_rows_that_are_named() -> None:
    """Rows of cross-attention count by what they predict, as on the page, where the labels of rows say so."""
    query = RECORD.rows("cross")
    figure = compare(CROSS, x=TO_A, a=(1, 2), query=query)
    rows = np.flatnonzero(~query.special & (CROSS.mask.sum(axis=1) > 1))
    assert rows.tolist() != np.flatnonzero(~CROSS.query.special).tolist()
    own = CROSS.head(1, 2)[rows]
    expected = [
        np.mean([apart(CROSS.head(layer, head)[row], own[i]) for i, row in enumerate(rows)])
        for layer in range(CROSS.shape[0])
        for head in range(CROSS.shape[1])
    ]
    assert np.asarray(figure.data[0].x) == pytest.approx(expected, abs=1e-6)


def test_points_are_counted_layer_by_layer() -> None:
    points = trace(scatter(MEASURED, PEAK, COVERAGE), "heads")
    np.testing.assert_array_equal(points.x, MEASURED.values["peak"].ravel())
    np.testing.assert_array_equal(points.y, MEASURED.values["coverage"].ravel())
    assert [name for name, _ in points.customdata] == [f"L{layer}H{head}" for layer in range(2) for head in range(4)]
    assert "unclassified" in {called for _, called in points.customdata}


def test_pins_are_ringed_in_their_colours_and_those_left_out_are_faint() -> None:
    kept = np.zeros((2, 4), np.bool_)
    kept[1, 2] = True
    figure = scatter(MEASURED, PEAK, COVERAGE, pins={"A": (1, 2), "B": (0, 0)}, kept=kept)
    ring = trace(figure, "A")
    assert ring.x[0] == MEASURED.values["peak"][1, 2]
    assert ring.marker.color == pin_color("A") != pin_color("B")
    opacity = trace(figure, "heads").marker.opacity
    assert opacity[6] == 1
    assert max(np.delete(opacity, 6)) < 0.5


def test_letters_of_near_pins_are_on_the_sides_away_from_each_other() -> None:
    left, right = sorted(((1, 2), (0, 0)), key=lambda place: float(PEAK.values[place]))
    for pins in ({"A": left, "B": right}, {"A": right, "B": left}):
        figure = scatter(MEASURED, PEAK, COVERAGE, pins=pins)
        sides = {place: trace(figure, letter).textposition for letter, place in pins.items()}
        assert sides == {left: "middle left", right: "middle right"}


def test_pinned_heads_have_their_label_before_others() -> None:
    values = np.full((2, 4), 0.5, np.float32)  # all at one place: there is room for one label
    same = replace(PEAK, values=values)
    for place in ((1, 2), (0, 0)):
        shown = trace(scatter(MEASURED, same, same, pins={"A": place}), "heads").text
        assert [text for text in shown if text] == [f"L{place[0]}H{place[1]}"]


def test_no_label_is_under_the_letter_of_a_pin() -> None:
    across = np.array([[0.0, 0.15, 0.5, 1.0], [0.85, 0.25, 0.75, 0.35]], np.float32)
    up = np.array([[0.0, 0.05, 0.5, 1.0], [0.9, 0.25, 0.1, 0.75]], np.float32)
    x, y = replace(PEAK, values=across), replace(COVERAGE, values=up)
    free = trace(scatter(MEASURED, x, y), "heads").text
    near = trace(scatter(MEASURED, x, y, pins={"A": (0, 0)}), "heads").text
    assert free[1] == "L0H1"
    assert near[:2] == ("L0H0", "")
    assert near[2:] == free[2:]


def test_the_matrix_names_each_head_even_where_the_axes_name_none() -> None:
    wide = records.encoder_decoder(layers=(20, 2), heads=(18, 2)).attention("encoder")
    measured = measures(wide)
    cells = trace(matrix(measured, field(measured, "peak")), "heads")
    assert cells.text[3 * 18 + 5] == "L3H5"
    assert len(cells.text) == 20 * 18
    assert cells.hovertemplate.startswith("<b>%{text}</b>")


def test_the_matrix_shows_the_measure_and_frames_the_pins() -> None:
    figure = matrix(MEASURED, PEAK, pins={"A": (1, 2)})
    cells = trace(figure, "peak")
    np.testing.assert_array_equal(cells.z, MEASURED.values["peak"])
    assert (cells.zmin, cells.zmax) == (0, 1)
    (frame,) = figure.layout.shapes
    assert frame.x0 < 2 < frame.x1
    assert frame.y0 < 1 < frame.y1
    assert trace(figure, "heads").customdata[6] == MEASURED.values["peak"][1, 2]


def test_labels_do_not_cover_each_other() -> None:
    values = {name: np.full((2, 4), 0.5, np.float32) for name in MEASURED.values}
    crowd = Measured("cross", (2, 4), values, MEASURED.even, MEASURED.rows)
    points = trace(scatter(crowd, field(crowd, "peak"), field(crowd, "coverage")), "heads")
    assert sum(bool(label) for label in points.text) == 1


def test_a_heads_distance_from_a_is_a_measure_too() -> None:
    figure = compare(CROSS, x=TO_A, a=(1, 2))
    points = trace(figure, "heads") if len(list(figure.select_traces({"name": "heads"}))) == 1 else figure.data[0]
    np.testing.assert_allclose(points.x, distances(CROSS, 1, 2).ravel(), atol=1e-6)
    with pytest.raises(SettingError, match="choose entropy"):
        compare(CROSS, x=TO_A)


def test_similar_heads_are_close_together_on_axes_of_one_scale() -> None:
    found = likeness(CROSS)
    assert found is not None
    figure = alike(MEASURED, found, pins={"A": (1, 2)})
    points = trace(figure, "heads")
    np.testing.assert_array_equal(np.stack([points.x, points.y], axis=1), found.places)
    assert figure.layout.yaxis.scaleanchor == "x"
    assert trace(figure, "A").x[0] == found.places[6, 0]


def test_two_heads_and_what_b_does_otherwise() -> None:
    figure = bartviz.figures.compare(CROSS, a=(0, 1), b=(1, 3))
    first, second = (one.z for one in figure.select_traces({"name": "weights"}))
    np.testing.assert_array_equal(first, CROSS.head(0, 1))
    np.testing.assert_array_equal(second, CROSS.head(1, 3))
    np.testing.assert_allclose(trace(figure, "difference").z, CROSS.head(1, 3) - CROSS.head(0, 1))
    titles = [note.text for note in figure.layout.annotations]
    assert titles[:2] == ["A: cross L0H1", "B: cross L1H3"]
    assert titles[2].startswith("B - A, mean distance 0.")


def test_without_the_same_tokens_there_is_no_difference_and_the_title_says_why() -> None:
    figure = bartviz.figures.compare(CROSS, a=(0, 1), b=(1, 0), other=RECORD.attention("encoder"))
    assert len(list(figure.select_traces({"name": "weights"}))) == 2
    assert not list(figure.select_traces({"name": "difference"}))
    assert "needs mostly the same tokens" in figure.layout.annotations[1].text.replace("<br>", " ")


def test_differences_are_orange_below_and_blue_above_a_neutral_0() -> None:
    a, b = head_view.view(CROSS, 0, 0), head_view.view(CROSS, 1, 1)
    found = contrast(a, b)
    assert found is not None
    figure = difference(a, b, found)
    cells = trace(figure, "difference")
    assert cells.zmin == -cells.zmax
    assert cells.zmax >= np.abs(found.difference).max()
    assert [list(stop) for stop in cells.colorscale] == theme.difference_scale()


@pytest.mark.slow
@settings(max_examples=20)
@given(records.attentions())
def test_any_attention_is_drawn(attention: Attention) -> None:
    last = (attention.shape[0] - 1, attention.shape[1] - 1)
    whole = compare(attention, a=last, dark=True)
    assert len(trace(whole, "A").x) == 1
    view, other = head_view.view(attention, 0, 0, words=True), head_view.view(attention, *last, words=True)
    assert "difference" in {one.name for one in pair(view, other).data}


def test_a_long_text_shows_the_difference_of_a_block_that_is_farthest_from_0() -> None:
    long = records.encoder_only(("a", *[" b"] * 399), layers=1, heads=2).attention("encoder")
    a, b = head_view.view(long, 0, 0), head_view.view(long, 0, 1)
    found = contrast(a, b)
    assert found is not None
    cells = trace(difference(a, b, found), "difference")
    assert cells.z.shape == (200, 200)
    block = found.difference[:2, :2]
    assert cells.z[0, 0] == pytest.approx(block.ravel()[np.abs(block).argmax()])
    assert "at most" in cells.hovertemplate


@pytest.mark.parametrize(("heads", "said"), [(8, "0.12 0.99 1.00 9.96 17.04"), (16, ".12 .99 1.0 10 17")])
def test_numbers_of_many_heads_take_no_more_than_three_signs(heads: int, said: str) -> None:
    values = np.zeros((1, heads), np.float32)
    values[0, :5] = 0.1234, 0.994, 0.996, 9.96, 17.04
    found = matrix(
        Measured("encoder", (1, heads), {"distance": values}, {"distance": 1.0}, {"distance": 3}),
        Field("distance", "mean distance", "tokens", values, None, 1.0),
    )
    numbers = next(trace for trace in found.data if trace.name == "numbers")
    assert " ".join(numbers.text[:5]) == said


def test_what_a_record_measures_is_drawn_as_on_the_page() -> None:
    record = stand_in.record()
    assert record.cross is not None
    given = of_record(record, "cross")
    drawn = compare(record.cross, color="alignment", measured=given)
    maps = [np.asarray(trace.z) for trace in drawn.data if trace.type == "heatmap"]
    np.testing.assert_array_equal(maps[0], given.values["alignment"])
    alone = compare(record.cross, color="alignment")
    assert not np.array_equal(next(np.asarray(t.z) for t in alone.data if t.type == "heatmap"), maps[0])


def test_more_heads_than_can_be_compared_are_refused() -> None:
    weights = np.full((25, 101, 2, 2), 0.5, np.float32)
    many = bartviz.from_attentions(encoder=weights, tokens=["a", "b"]).attention("encoder")
    with pytest.raises(SettingError, match="2,525 heads"):
        bartviz.figures.likeness(many)
