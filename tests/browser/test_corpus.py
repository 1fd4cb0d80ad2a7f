"""The corpus page in a browser: an example opens in heads, with the head that was chosen; Korean on a phone."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from scripts.settled import settle
from tests.browser.conftest import Open, go


def test_an_example_opens_as_a_record_with_the_head_chosen(visit: Open, shipped: str) -> None:
    page = visit(f"{shipped}/corpus?layer=1&head=4")
    page.locator(".st-key-corpus_highest_1_open button").first.click()
    expect(page).to_have_url(re.compile(r"/heads\?"))
    expect(page.locator(".bv-lead").first).to_contain_text("Head 4 of layer 1")
    page.get_by_role("link", name="Back to Many texts (corpus)").click()
    expect(page).to_have_url(re.compile(r"/corpus(\?|$)"))
    expect(page.locator(".bv-lead").first).to_contain_text("Head 4 of layer 1")
    go(page, "Heads")
    expect(page.get_by_role("link", name="Back to")).to_have_count(0)


def test_a_beginner_chooses_a_head_in_the_picture_alone_and_by_keys_with_the_pickers(visit: Open, shipped: str) -> None:
    page = visit(f"{shipped}/corpus", size=(390, 844))
    pickers = page.locator(".st-key-corpus_by_keys button").first
    expect(pickers).to_be_attached()
    wrapper = page.locator('[data-testid="stLayoutWrapper"]:has(> .st-key-corpus_by_keys)')
    assert (wrapper.bounding_box() or {"height": 99})["height"] <= 1  # for the keys alone
    cells = page.locator(".st-key-corpus_heads .nsewdrag").first
    box = cells.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 844  # what was found is in the first screen of a phone
    cells.click(position={"x": box["width"] * 2.5 / 8, "y": box["height"] * 3.5 / 4})
    expect(page.locator(".bv-lead").first).to_contain_text("Head 2 of layer 3")
    pickers.focus()
    pickers.press("Enter")
    page.get_by_role("slider", name="Layer").press("ArrowLeft")
    expect(page.locator(".bv-lead").first).to_contain_text("Head 2 of layer 2")


def test_a_click_on_a_cell_or_a_point_chooses_its_head(visit: Open, shipped: str) -> None:
    page = visit(f"{shipped}/corpus?level=intermediate&layer=1&head=4")
    areas = page.locator(".st-key-corpus_heads .nsewdrag")
    cells, points = areas.nth(0), areas.nth(1)
    box = cells.bounding_box()
    assert box is not None
    cells.click(position={"x": box["width"] * 2.9 / 8, "y": box["height"] * 3.9 / 4})  # near a corner
    expect(page).to_have_url(re.compile("layer=3&head=2"))
    expect(page.locator(".bv-lead").first).to_contain_text("L3H2")
    settle(page)
    point = page.locator(".st-key-corpus_heads .trace.scatter").last.locator(".point").nth(8 * 2 + 5)
    spot, area = point.bounding_box(), points.bounding_box()
    assert spot is not None
    assert area is not None
    place = (spot["x"] + spot["width"] / 2 - area["x"], spot["y"] + spot["height"] / 2 - area["y"])
    points.click(position={"x": place[0], "y": place[1]})
    expect(page.locator(".bv-lead").first).to_contain_text("L2H5")
