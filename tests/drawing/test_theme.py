"""The language of colour, measured: even lightness, and kinds that stay apart for colour-blind readers."""

from __future__ import annotations

import html
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from bartviz.drawing import theme
from bartviz.drawing.colors import KEY, QUERY, VALUE
from bartviz.record.attention import KINDS, Kind
from tests.support.contrast import contrast

XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
# Machado, Oliveira, Fernandes 2009: linear RGB as it appears to protanopes, deuteranopes, tritanopes; row by row.
SIGHT = {
    "all cones": np.eye(3),
    "protanopia": np.reshape(
        [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998], (3, 3)
    ),
    "deuteranopia": np.reshape(
        [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881], (3, 3)
    ),
    "tritanopia": np.reshape(
        [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.303900], (3, 3)
    ),
}


def lab(color: str, sight: str = "all cones") -> NDArray[np.float64]:
    """CIELAB (D65) of a hex colour, as seen with those cones."""
    rgb = np.array([int(color[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = XYZ @ np.clip(SIGHT[sight] @ linear, 0, 1) / np.array([0.95047, 1.0, 1.08883])
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_scales_run_evenly_in_lightness_from_the_background(kind: Kind, dark: bool) -> None:
    colors = [str(color) for _, color in theme.scale(kind, dark)]
    steps = np.diff([lab(color)[0] for color in colors])
    assert colors[0] == theme.palette(dark).background
    assert np.ptp(steps) < 1.0
    assert (steps > 0).all() == dark


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("sight", SIGHT)
def test_kinds_and_masked_cells_stay_apart_whatever_the_cones(sight: str, dark: bool) -> None:
    colors = [*(theme.kind_color(kind, dark) for kind in KINDS), theme.palette(dark).masked]
    for one, other in combinations(colors, 2):
        assert np.linalg.norm(lab(one, sight) - lab(other, sight)) > 30


@pytest.mark.parametrize("sight", SIGHT)
def test_roles_stay_apart_whatever_the_cones(sight: str) -> None:
    for one, other in combinations((QUERY, KEY, VALUE), 2):
        assert np.linalg.norm(lab(one, sight) - lab(other, sight)) > 20


@pytest.mark.parametrize("dark", [False, True])
def test_difference_is_lightest_or_darkest_in_the_middle(dark: bool) -> None:
    lightness = [lab(str(color))[0] for _, color in theme.difference_scale(dark)]
    assert lightness.index((min if dark else max)(lightness)) == 3


@pytest.mark.parametrize("label", ["<s>", "</script>", "a & b", "%{z}", "%{customdata}"])
def test_escaped_label_holds_nothing_that_plotly_would_read(label: str) -> None:
    escaped = theme.escape(label)
    assert "<" not in escaped
    assert "%{" not in escaped
    assert html.unescape(escaped) == label


def test_empty_label_keeps_its_place() -> None:
    assert theme.escape("") == "\u00a0"


def test_a_colour_is_interpolated_between_the_stops_of_its_scale() -> None:
    scale: theme.Scale = [[0.0, "#000000"], [0.5, "#ff0000"], [1.0, "#ffffff"]]
    assert [theme.at(scale, share) for share in (-1, 0, 0.25, 0.5, 1, 2)] == [
        "#000000",
        "#000000",
        "#800000",
        "#ff0000",
        "#ffffff",
        "#ffffff",
    ]


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_letters_can_be_read_on_every_shade(kind: Kind, dark: bool) -> None:
    for scale in (theme.scale(kind, dark), theme.difference_scale(dark)):
        for share in np.linspace(0, 1, 60):
            paper = theme.at(scale, float(share))
            assert contrast(paper, theme.ink_on(paper)) >= 4.5


def test_lines_are_broken_between_words_and_korean_is_wide() -> None:
    assert theme.lines("one two three", 7) == "one two<br>three"
    assert theme.lines("<a> & b", 40) == "&lt;a&gt; &amp; b"
    assert theme.width("두 글자") == 7
    assert theme.lines("두 글자", 6) == "두<br>글자"


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("role", [QUERY, KEY, VALUE])
def test_the_letters_of_a_role_can_be_read(role: str, dark: bool) -> None:
    assert contrast(theme.palette(dark).background, theme.letters(role, dark)) > 4.5


def test_large_type_enlarges_letters_and_their_room_and_nothing_else() -> None:
    figure = theme.build(
        [{"type": "scatter", "x": [1, 2], "y": [3, 4], "marker": {"size": [5, 6]}, "textfont": {"size": 10}}],
        {"xaxis": {"title": {"text": "x", "standoff": 6}}, "annotations": [{"text": "a", "font": {"size": 12}}]},
        height=300,
    )
    large = theme.enlarged(figure, 1.5)
    assert large.layout.font.size == 21
    assert large.layout.annotations[0].font.size == 18
    assert large.layout.xaxis.title.standoff == 9
    assert large.layout.margin.t == 18
    assert large.layout.height == 375
    assert large.data[0].textfont.size == 15
    assert tuple(large.data[0].marker.size) == (5, 6)
    assert tuple(large.data[0].y) == (3, 4)
    assert figure.layout.font.size == 14
    assert figure.layout.annotations[0].font.size == 12


def test_a_figure_that_is_touched_keeps_the_strength_of_every_point() -> None:
    figure = theme.build(
        [
            {"type": "bar", "x": [1, 2], "y": [3, 4], "text": ["a", "b"]},
            {"type": "scatter", "mode": "text", "text": ["c"], "textfont": {"color": "#123456"}},
            {"type": "scatter", "x": [1], "y": [1], "marker": {"opacity": 0.5}},
            {"type": "scatter", "x": [1], "y": [1], "unselected": {"marker": {"opacity": 0.9}}},
            {"type": "heatmap", "z": [[1]]},
        ],
        {},
    )
    still = theme.steady(figure).to_plotly_json()["data"]
    assert [trace.get("unselected", {}).get("marker", {}).get("opacity") for trace in still] == [1, 1, 0.5, 0.9, None]
    ink = figure.layout.font.color
    assert [trace.get("selected", {}).get("textfont", {}).get("color") for trace in still[:2]] == [ink, "#123456"]
    assert "unselected" not in figure.to_plotly_json()["data"][0]


@pytest.mark.parametrize(("columns", "size"), [(4, 15.4), (12, 15.4), (24, 12.5), (60, 11)])
def test_numbers_within_cells_grow_as_far_as_the_cells_have_room(columns: int, size: float) -> None:
    # At least 540 pixels for the cells: 135, 45, 22.5 and 9 for each. ".21" is 1.8 of its size wide.
    numbers = {
        "type": "scatter",
        "mode": "text",
        "x": np.arange(columns),
        "y": np.zeros(columns),
        "text": [".21"] * columns,
        "textfont": {"size": 11},
    }
    layout = {"xaxis": {"range": [-0.5, columns - 0.5]}, "yaxis": {"range": [-0.5, 3.5]}}
    large = theme.enlarged(theme.build([numbers], layout, height=300), 1.4)
    assert large.data[0].textfont.size == pytest.approx(size)


def test_numbers_in_low_cells_keep_their_size() -> None:
    numbers = {"type": "scatter", "mode": "text", "x": [0], "y": [0], "text": [".21"], "textfont": {"size": 11}}
    low = theme.build([numbers], {"yaxis": {"range": [-0.5, 19.5]}}, height=300)  # (360 − 120) / 20 = 12 pixels high
    assert theme.enlarged(low, 1.4).data[0].textfont.size == 11
