"""The masks page in a browser: squares, patterns, labels."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from scripts.settled import settle
from tests.browser.conftest import Open

PLOT = ".stPlotlyChart .nsewdrag"


def drawn(page: Page, count: int) -> None:
    """Wait until so many pictures stand."""
    expect(page.locator(PLOT)).to_have_count(count)
    settle(page)


def test_pointing_at_a_cell_frames_its_row_and_a_click_keeps_it(visit: Open, server: str) -> None:
    page = visit(f"{server}/masks?view=weights")
    settle(page)
    square = page.locator(".square").nth(1)
    box = square.locator("canvas").bounding_box()
    assert box is not None
    for place, words in ((0.75, "may not look at"), (0.3, "“möchte” looks at “<s>”: ")):
        page.mouse.move(box["x"] + box["width"] * place, box["y"] + box["height"] * 0.4)
        expect(square.locator(".said")).to_contain_text(words)
    page.mouse.click(box["x"] + box["width"] * 0.3, box["y"] + box["height"] * 0.8)
    expect(page).to_have_url(re.compile("row=[4-8]"))  # the row before is the one of the first picture


def test_painted_mask_runs_and_stands_in_the_address(visit: Open, shipped: str) -> None:
    page = visit(f"{shipped}/masks?view=draw")
    expect(page.get_by_text("This is the model's own mask")).to_be_visible()
    settle(page)
    square = page.locator(".square canvas")
    square.focus()
    for key in ("ArrowDown", "ArrowDown", " "):
        page.keyboard.press(key)
    expect(page.get_by_text("1 cell differs")).to_be_visible()
    expect(page).to_have_url(re.compile("drawn="))


@pytest.mark.thorough
def test_patterns_are_pictures_that_need_no_network(visit: Open, server: str) -> None:
    page = visit(f"{server}/masks?level=intermediate", scheme="dark")
    page.get_by_role("tab", name="Other patterns").click()
    drawn(page, 2)
    pictures = page.locator("figure img")
    expect(pictures).to_have_count(9)
    assert all(pictures.nth(place).evaluate("image => image.naturalWidth > 0") for place in range(9))
    page.get_by_role("tab", name="About 0 or exactly 0").click()
    expect(page.get_by_text("If every key were closed to")).to_be_visible()
