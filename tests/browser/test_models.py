"""The models page in a browser: a set is chosen, only differences are shown, and the link restores it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from scripts.settled import settle
from tests.browser.conftest import Open


@pytest.mark.thorough
def test_models_are_chosen_and_the_link_restores_them(visit: Open, server: str) -> None:
    page = visit(f"{server}/models")
    page.get_by_role("tab", name="Property by property").click()  # a beginner sees the examples first
    table = page.locator(".bv-models")
    expect(table).to_contain_text("124,439,808")
    page.get_by_text("BART and T5", exact=True).click()
    expect(table).to_contain_text("222,903,552")
    expect(page).to_have_url(re.compile("models=two"))
    alike = table.get_by_text("how many numbers stand for a token")  # the width is 768 in both
    expect(alike).to_have_count(0)
    page.get_by_text("Only what differs").click()
    expect(alike).to_have_count(1)
    expect(page).to_have_url(re.compile("differ=false"))
    settle(page)
    again = visit(page.url, scheme="dark", size=(420, 900))
    expect(again.locator(".bv-models")).to_contain_text("222,903,552")
    expect(again.locator(".bv-models").get_by_text("how many numbers stand for a token")).to_have_count(1)
    buttons = again.locator(".stPlotlyChart .modebar").first  # they would stand on the names of the models
    expect(buttons).to_be_hidden()
    again.locator(".stPlotlyChart .nsewdrag").first.click()
    expect(buttons).to_be_visible()


@pytest.mark.parametrize(("width", "rows"), [(1366, False), (390, True), (360, True)])
def test_four_models_are_seen_without_moving_the_picture_sideways(
    visit: Open, server: str, width: int, rows: bool
) -> None:
    page = visit(f"{server}/models?models=writers", size=(width, 844))
    together, apart = (
        page.locator(".st-key-layers .js-plotly-plot"),
        page.locator(".st-key-layers_rows .js-plotly-plot"),
    )
    expect(apart if rows else together).to_be_visible()
    expect(together if rows else apart).to_be_hidden()
    box = page.locator("[class*='st-key-models_drawn_']")
    assert box.evaluate("box => box.scrollWidth <= box.clientWidth")
    page.set_viewport_size({"width": 390 if width == 1366 else 1366, "height": 844})  # a window may change its width
    expect(together if rows else apart).to_be_visible()
    drawn = (together if rows else apart).locator(".main-svg").first
    assert drawn.evaluate("svg => svg.getBoundingClientRect().width") > 300
