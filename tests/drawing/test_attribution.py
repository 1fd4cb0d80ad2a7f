"""The figure and the picture of an attribution: their numbers and texts, not their pixels."""

from __future__ import annotations

from collections.abc import Callable
from xml.etree import ElementTree as ET

import numpy as np
import plotly.graph_objects as go
import pytest

from bartviz import figures, paper
from bartviz.drawing import theme
from bartviz.drawing.attribution import strongest
from bartviz.errors import SettingError
from bartviz.language import speaking
from tests.analysis.test_attribution import by_hand
from tests.drawing.paper.reading import SVG, texts


def maps(figure: go.Figure) -> list[go.Heatmap]:
    return list(figure.select_traces({"name": "attribution"}))


def test_both_sides_are_drawn_with_one_scale_and_unread_cells_are_gaps() -> None:
    found = by_hand("rollout")
    source, earlier = maps(figures.attribution(found))
    np.testing.assert_array_equal(source.z, found.values)
    np.testing.assert_array_equal(np.isnan(earlier.z), [[0, 1, 1], [0, 0, 1], [0, 0, 0]])
    for one in (source, earlier):
        assert (one.zmin, one.zmax) == (0, 4)
    assert source.colorscale[-1][1] == theme.stops("cross")[-1]
    assert earlier.colorscale[-1][1] == theme.stops("decoder")[-1]


def test_signed_numbers_have_two_sides_around_nothing() -> None:
    figure = figures.attribution(by_hand("leave-one-out", contrast="x"), dark=True)
    for one in maps(figure):
        assert (one.zmin, one.zmax) == (-4, 4)
        assert [list(stop) for stop in one.colorscale] == theme.difference_scale(dark=True)
        assert "speaks for" in one.hovertemplate
    assert figure.layout.annotations[0].text == "Leave-one-out, against “x”: source"


def test_a_cell_of_many_is_the_strongest_whatever_its_sign() -> None:
    values = np.array([[1, -3, np.nan], [2, 0, np.nan], [-1, 0.5, 7]], np.float32)
    np.testing.assert_array_equal(strongest(values, 2), np.array([[-3, np.nan], [-1, 7]], np.float32))


def test_something_else_is_refused() -> None:
    draws: tuple[Callable[..., object], ...] = (figures.attribution, paper.attribution)
    for draw in draws:
        with pytest.raises(SettingError, match=r"the result of bartviz\.attribute"):
            draw("rollout")


@pytest.mark.parametrize("language", ["en", "ko"])
def test_a_picture_for_paper_says_the_method_its_formula_and_its_source(language: str) -> None:
    found = by_hand("norms of weighted values")
    with speaking(language):
        picture = paper.attribution(found)
        method = found.method
        assert "Kobayashi et al. 2020, equation 3" in picture.caption
        assert "alpha_ij W_O v_j" in picture.caption
        assert "hand" in picture.caption
        assert ("Norms of weighted values" in picture.caption) == (language == "en"), method
    root = ET.fromstring(picture.svg)
    assert root.findtext(f"{SVG}desc") == picture.caption
    cells = [rect for rect in root.iter(f"{SVG}rect") if rect.get("data-cell")]
    assert len(cells) == 3 * 4 + 3 * 3
    assert sum(rect.get("data-weight") is None for rect in cells) == 3  # not read yet
    assert paper.attribution(found).svg == paper.attribution(found).svg


def test_a_picture_of_signed_numbers_has_both_ends() -> None:
    drawn = texts(ET.fromstring(paper.attribution(by_hand("leave-one-out", contrast="x")).svg))
    assert "−4" in drawn
    assert "logit of that token minus that of “x”" in " ".join(drawn)
