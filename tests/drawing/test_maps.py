"""The map that all features share: its numbers, masks and texts, not its pixels."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bartviz.drawing import axes, masked_cells
from bartviz.drawing.cells import pool
from bartviz.drawing.maps import attention_map
from bartviz.errors import SettingError

# Three tokens, one head, weights written by hand.
WEIGHTS = np.array([[1.0, 0.0, 0.0], [0.25, 0.75, 0.0], [0.2, 0.3, 0.5]], np.float32)
CAUSAL = np.tri(3, dtype=bool)
LABELS = ("<s>", "a & b", "%{z}")


def trace(figure: go.Figure, name: str) -> Any:
    (found,) = figure.select_traces({"name": name})
    return found


def test_map_holds_the_weights_it_was_given_as_float32() -> None:
    z = trace(attention_map(WEIGHTS, LABELS, LABELS, kind="encoder"), "weights").z
    assert z.dtype == np.float32
    np.testing.assert_array_equal(z, WEIGHTS)


def test_masked_cells_are_gaps_under_hatching_and_say_masked() -> None:
    figure = attention_map(WEIGHTS, LABELS, LABELS, kind="decoder", mask=CAUSAL)
    np.testing.assert_array_equal(np.isnan(trace(figure, "weights").z), ~CAUSAL)
    # The pointer finds the lowest map through the gaps.
    assert "may not attend to" in figure.data[0].hovertemplate
    hatching = figure.data[-1]
    np.testing.assert_array_equal(hatching.x[:5], [0.5, 2.5, 2.5, 0.5, 0.5])
    np.testing.assert_array_equal(hatching.y[:5], [-0.5, -0.5, 0.5, 0.5, -0.5])
    assert hatching.fillpattern.shape == "/"


def test_labels_are_escaped_and_sit_at_whole_numbers() -> None:
    layout = attention_map(WEIGHTS, LABELS, LABELS, kind="cross").layout
    assert layout.xaxis.ticktext == ("&lt;s&gt;", "a &amp; b", "&#37;{z}")
    np.testing.assert_array_equal(layout.yaxis.tickvals, [0, 1, 2])
    assert tuple(layout.yaxis.range) == (2.5, -0.5)  # the first row is on top
    assert layout.yaxis2.title.text.startswith("← query")
    assert layout.xaxis2.title.text.startswith("key")


def test_special_tokens_are_grey_on_the_axis_and_plain_under_the_pointer() -> None:
    special = np.array([True, False, False])
    layout = attention_map(WEIGHTS, LABELS, LABELS, kind="cross", key_special=special).layout
    assert layout.xaxis2.ticktext[0].startswith("<span")
    assert layout.xaxis2.ticktext[1] == "a &amp; b"
    assert layout.xaxis.ticktext[0] == "&lt;s&gt;"


def test_row_and_log_ranges_recolour_and_say_so_but_the_pointer_keeps_the_weight() -> None:
    by_row = trace(attention_map(WEIGHTS, LABELS, LABELS, kind="cross", range="row"), "weights")
    np.testing.assert_allclose(by_row.z[2], [0.4, 0.6, 1.0], rtol=1e-6)
    np.testing.assert_array_equal(by_row.customdata, WEIGHTS)
    assert "row's largest" in by_row.colorbar.title.text
    row = np.array([[1, 0.1, 1e-9]], np.float32)
    powers = trace(attention_map(row, "a", "bcd", kind="cross", range="log"), "weights")
    np.testing.assert_allclose(powers.z, [[1.0, 0.75, 0.0]], atol=1e-6)
    assert "powers of ten" in powers.colorbar.title.text


def test_growing_map_draws_the_first_rows_and_keeps_the_place_of_the_others() -> None:
    figure = attention_map(WEIGHTS, LABELS, LABELS, kind="cross", rows=2, row=1)
    assert trace(figure, "weights").z.shape == (2, 3)
    assert tuple(figure.layout.yaxis.range) == (2.5, -0.5)
    assert (figure.layout.shapes[1].y0, figure.layout.shapes[1].y1) == (0.5, 1.5)


def test_long_map_shows_the_largest_of_each_block_and_says_so() -> None:
    weights = np.zeros((1, 401), np.float32)
    weights[0, 400] = 1.0
    figure = attention_map(weights, ["q"], [f"t{i}" for i in range(401)], kind="encoder")
    drawn = trace(figure, "weights")
    assert drawn.z.shape == (1, 201)
    assert drawn.z[0, 200] == 1.0
    assert (drawn.x0, drawn.dx) == (0.5, 2)
    assert "largest of 2 × 2" in drawn.colorbar.title.text
    assert "at most" in drawn.hovertemplate
    assert figure.layout.xaxis.ticktext[:2] == ("t0 · t1", "t2 · t3")
    assert "every 10th" in figure.layout.xaxis2.title.text


def test_map_of_1024_tokens_stays_under_two_megabytes() -> None:
    labels = [f"token{i}" for i in range(1024)]
    mask = np.tri(1024, dtype=bool)
    weights = mask / mask.sum(axis=1, keepdims=True, dtype=np.float32)
    assert len(attention_map(weights, labels, labels, kind="decoder", mask=mask, range="log").to_json()) < 2_000_000


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"query_labels": ("a", "b")}, "label for each"),
        ({"weights": np.zeros((0, 3))}, "label for each"),
        ({"mask": np.ones((2, 3), bool)}, "mask has shape"),
        ({"range": "auto"}, "fixed, row or log"),
        ({"rows": 4}, "1 to 3"),
        ({"row": -1}, "0 to 2"),
    ],
)
def test_contradictions_are_refused_with_the_choices(change: dict[str, Any], says: str) -> None:
    call: dict[str, Any] = {"weights": WEIGHTS, "query_labels": LABELS, "key_labels": LABELS, "kind": "cross"}
    with pytest.raises(SettingError, match=says):
        attention_map(**(call | change))


@pytest.mark.slow
@settings(deadline=None)
@given(arrays(np.bool_, st.tuples(st.integers(1, 7), st.integers(1, 7))))
def test_hatching_covers_exactly_the_masked_cells(masked: Any) -> None:
    x, y = masked_cells.outlines(masked)
    covered = np.zeros(masked.shape, int)
    for left, right, top, bottom in zip(x[0::6], x[1::6], y[0::6], y[2::6], strict=True):
        covered[int(top + 0.5) : int(bottom + 0.5), int(left + 0.5) : int(right + 0.5)] += 1
    np.testing.assert_array_equal(covered, masked)
    assert np.isnan(x[5::6]).all()


def test_hatching_joins_equal_rows() -> None:
    padding = np.zeros((5, 8), bool)
    padding[:, 6:] = True
    assert masked_cells.outlines(padding)[0].size == 6


@pytest.mark.slow
@settings(deadline=None)
@given(st.integers(1, 20), st.integers(1, 20), st.integers(1, 4), st.integers(0, 99))
def test_pooling_keeps_the_largest_and_ignores_gaps(queries: int, keys: int, factor: int, seed: int) -> None:
    weights = np.random.default_rng(seed).random((queries, keys), np.float32)
    weights[weights < 0.2] = np.nan
    pooled = pool(weights, factor)
    for row in range(pooled.shape[0]):
        for column in range(pooled.shape[1]):
            block = weights[row * factor : (row + 1) * factor, column * factor : (column + 1) * factor]
            expected = np.nan if np.isnan(block).all() else np.nanmax(block)
            np.testing.assert_equal(pooled[row, column], np.float32(expected))


@pytest.mark.parametrize(("labels", "fit", "step"), [(5, 32, 1), (33, 32, 2), (65, 32, 5), (1024, 40, 50)])
def test_axis_shows_every_nth_label(labels: int, fit: int, step: int) -> None:
    assert axes.every(labels, fit) == step


def test_cells_are_square_unless_the_map_would_be_a_ribbon() -> None:
    assert axes.cell_ratio(9, 12) == 1.0
    assert axes.cell_ratio(2, 50) == 10.0  # 2.5 : 1
    assert axes.cell_ratio(32, 2) == 0.1  # 1 : 1.6


def test_ribbon_takes_less_height_than_it_is_given() -> None:
    keys = [f"k{i}" for i in range(50)]
    assert axes.fitting(470, ["a", "b"], keys) < 350
    assert axes.fitting(470, keys, keys) == 470


def test_long_label_ends_in_an_ellipsis_on_the_axis_and_is_whole_under_the_pointer() -> None:
    word = "Donaudampfschifffahrtsgesellschaft"
    layout = attention_map(np.ones((1, 1), np.float32), [word], ["a"], kind="cross").layout
    assert layout.yaxis2.ticktext == ("Donaudampfschifff…",)
    assert layout.yaxis.ticktext == (word,)
