"""The patch map: its rows, columns and one scale for all kinds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
import pytest

from bartviz import figures
from bartviz.arrays import Floats
from bartviz.drawing import theme
from bartviz.errors import SettingError
from bartviz.record.attention import Kind
from tests.attribution.test_patching import by_hand


def maps(figure: go.Figure) -> list[go.Heatmap]:
    return list(figure.select_traces({"type": "heatmap"}))


def test_positions_are_named_by_both_texts_where_they_differ() -> None:
    found = replace(by_hand(0, 0.25, -0.75), corrupted_rows={"cross": ("<s>", "a", "z")})
    figure = figures.patch_map(found)
    (heat,) = maps(figure)
    np.testing.assert_array_equal(heat.z, [[0, 0.25, -0.75]])
    assert (heat.zmin, heat.zmax) == (-0.75, 0.75)
    assert [list(stop) for stop in heat.colorscale] == theme.difference_scale()
    assert list(figure.layout.xaxis.ticktext) == ["&lt;s&gt;", "a", "b | z"]
    assert "recovered: %{customdata:.1%}" in heat.hovertemplate


def test_all_kinds_share_one_scale_and_heads_at_positions_are_rows() -> None:
    rows: dict[Kind, tuple[str, ...]] = {"decoder": ("a", "b", "c"), "cross": ("a", "b", "c")}
    shares: Floats = np.linspace(0, 1.1, 12, dtype=np.float32).reshape(2, 2, 3)
    found = replace(
        by_hand(0),
        by="head and position",
        recovered={"decoder": np.asarray(shares / 2, np.float32), "cross": shares},
        rows=rows,
        corrupted_rows=rows,
    )
    figure = figures.patch_map(found, dark=True)
    first, second = maps(figure)
    assert first.zmax == second.zmax == pytest.approx(1.1)
    np.testing.assert_array_equal(second.z, shares.reshape(4, 3))
    assert list(figure.layout.yaxis.ticktext) == ["L0H0", "L0H1", "L1H0", "L1H1"]
    heads = figures.patch_map(replace(found, by="head", recovered={"cross": shares[0]}))
    assert list(heads.layout.xaxis.ticktext) == ["H0", "H1", "H2"]


def test_something_else_is_refused() -> None:
    with pytest.raises(SettingError, match=r"the result of bartviz\.patch"):
        figures.patch_map("bart-tiny-en-de")  # type: ignore[arg-type]
