"""The masks page in a browser: squares, patterns, labels."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from scripts.settled import settle
from tests.browser.conftest import Open
from tests.browser.finger import PRESS, SCROLLED, drag, place_in, swipe

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


def test_a_finger_scrolls_over_a_painted_mask_taps_cells_and_paints_after_a_press(visit: Open, shipped: str) -> None:
    page = visit(f"{shipped}/masks?view=draw&mask_start=full", size=(390, 844))
    settle(page)
    square, undo = page.locator(".square canvas"), page.locator(".squares .undo")
    expect(undo).to_be_disabled()
    place = place_in(square, 0.7, 0.8)
    above = page.evaluate(SCROLLED)
    swipe(page, place, up=150)
    page.wait_for_function(f"{SCROLLED} > {above} + 100")
    expect(undo).to_be_disabled()  # nothing is painted
    expect(page).not_to_have_url(re.compile("drawn="))
    page.touchscreen.tap(*place_in(square, 0.7, 0.8))
    expect(page).to_have_url(re.compile("drawn="))
    undo.tap()
    expect(page).not_to_have_url(re.compile("drawn="))
    x, y = place_in(square, 0.7, 0.5)
    above = page.evaluate(SCROLLED)
    drag(page, [(x, y + step) for step in range(0, 120, 8)], press=PRESS)
    expect(page).to_have_url(re.compile("drawn="))
    assert page.evaluate(SCROLLED) == above
    square.press("Control+z")
    expect(page).not_to_have_url(re.compile("drawn="))
    expect(undo).to_be_disabled()


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
