"""The masks page in a browser: squares, patterns, labels."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from scripts.settled import settle
from tests.browser.conftest import Open

PLOT = ".stPlotlyChart .nsewdrag"


def drawn(page: Page, count: int = 3) -> None:
    """Wait until so many pictures stand."""
    expect(page.locator(PLOT)).to_have_count(count)
    settle(page)


def test_the_hover_text_says_which_cells_are_open(visit: Open, server: str) -> None:
    page = visit(f"{server}/masks?level=intermediate")
    drawn(page)
    square = page.locator(".stPlotlyChart").nth(1)
    for place, words in ((0.95, "may not look at"), (0.05, "may look at")):
        box = square.locator(".nsewdrag").first.bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + box["width"] * place, box["y"] + box["height"] * 0.3)
        page.mouse.move(box["x"] + box["width"] * place, box["y"] + box["height"] * 0.05, steps=4)
        expect(square.locator(".hoverlayer")).to_contain_text(words)


@pytest.mark.thorough
def test_patterns_are_pictures_that_need_no_network(visit: Open, server: str) -> None:
    page = visit(f"{server}/masks?level=intermediate", scheme="dark")
    drawn(page)
    page.get_by_role("tab", name="Other patterns").click()
    drawn(page, 5)
    pictures = page.locator("figure img")
    expect(pictures).to_have_count(9)
    assert all(pictures.nth(place).evaluate("image => image.naturalWidth > 0") for place in range(9))
    page.get_by_role("tab", name="About 0 or exactly 0").click()
    expect(page.get_by_text("If every key were closed to")).to_be_visible()


@pytest.mark.thorough
def test_every_column_of_a_square_has_its_label(visit: Open, server: str) -> None:
    page = visit(f"{server}/masks")
    settle(page)
    first = page.locator(".js-plotly-plot").first.locator(".x2tick text")
    expect(first).to_have_text(["<s>", "I", "want", "to", "buy", "a", "car", ".", "</s>"])
