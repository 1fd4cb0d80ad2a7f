"""Figures of the library in a page as narrow as a phone's: parts side by side stay readable, and the page does not
scroll sideways."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import plotly.graph_objects as go
import pytest
from playwright.sync_api import Browser, expect

from bartviz import figures
from bartviz.analysis.attribution import Axis
from tests.analysis.test_attribution import by_hand
from tests.analysis.test_edits import edit
from tests.support import stand_in

pytestmark = pytest.mark.slow
OVER = """() => { // labels of rows that lie on the panel left of theirs
    const cells = [...document.querySelectorAll(".heatmaplayer image, .imagelayer image, .hm image")];
    return [...document.querySelectorAll("[class$=tick] text")].filter((label) => {
        const own = label.getBoundingClientRect();
        return cells.some((cell) => { const box = cell.getBoundingClientRect();
            return own.left < box.right - 1 && own.right > box.left + 1
                && own.top < box.bottom - 1 && own.bottom > box.top + 1; });
    }).map((label) => label.textContent);
}"""


DRAWN: dict[str, Callable[[], go.Figure]] = {
    "attribution": lambda: figures.attribution(
        replace(by_hand("leave-one-out"), steps=Axis.apart(("Schwester", "möchte", "gekauft")))
    ),
    "edits": lambda: figures.edits(edit()),
    "compare": lambda: figures.compare(stand_in.record().attention("cross"), a=(0, 1), b=(1, 3)),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", [name for name in DRAWN if name in dir(figures)])
def test_parts_side_by_side_keep_their_width_and_scroll_by_themselves(name: str, chrome: Browser) -> None:
    figure = DRAWN[name]()
    page = chrome.new_page(viewport={"width": 390, "height": 800})
    page.set_content(f"<title>notebook</title>{figure._repr_html_()}")
    expect(page.locator(".plotly .heatmaplayer image").first).to_be_attached()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.locator(".plotly").first.evaluate("it => it.getBoundingClientRect().width") >= 640
    assert page.evaluate(OVER) == []
    page.close()
