"""Every page by deep link on a fresh server; the guard; the theme; nothing leaves the machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from bartviz.ui.frame import sitemap
from scripts.settled import settle
from tests.browser.conftest import Open, go, serve


@pytest.mark.parametrize("entry", [sitemap.PAGES[0], *sitemap.PAGES[5::6]], ids=lambda entry: entry.word)
def test_a_deep_link_that_comes_first_shows_the_whole_app(
    entry: sitemap.Page, visit: Open, tmp_path: Path, stand_in_file: str
) -> None:
    """A folder named pages starts each server in a mode in which this page would run alone."""
    with serve(tmp_path, BARTVIZ_RECORD=stand_in_file) as address:
        first = entry is sitemap.PAGES[0]  # found by its word, too
        for scheme, word in (("light", "" if first else entry.word), ("dark", entry.word)):
            page = visit(f"{address}/{word}", scheme=scheme)
            page.get_by_role("heading", name=entry.title).wait_for()
            page.get_by_test_id("stSidebar").get_by_role("textbox", name="Text").wait_for()
            assert page.get_by_role("link", name=sitemap.PAGES[0].label, exact=True).is_visible()
            assert page.get_by_test_id("stDialog").count() == 0
            page.context.close()  # before its server goes


@pytest.mark.parametrize("locale", ["en-US", "ko-KR"])
def test_every_page_has_its_place_in_the_bar(locale: str, visit: Open, server: str) -> None:
    page = visit(f"{server}/masks", size=(1280, 720), locale=locale)
    links = page.get_by_test_id("stTopNav").get_by_role("link")
    expect(links).to_have_count(len(sitemap.PAGES))
    expect(links.last).to_be_in_viewport(ratio=1)


def test_every_page_is_found_on_a_narrow_screen(visit: Open, server: str) -> None:
    page = visit(f"{server}/masks", size=(420, 900))
    go(page, "Parameters")
    expect(page.get_by_role("heading", name=sitemap.page("parameters").title)).to_be_visible()
    page.set_viewport_size({"width": 900, "height": 700})
    expect(page.get_by_test_id("stTopNav").get_by_text("more")).to_be_visible()
    go(page, "Quiz")
    expect(page.get_by_role("heading", name=sitemap.page("quiz").title)).to_be_visible()


def test_large_type_reaches_the_pictures_and_what_is_pointed_at(visit: Open, server: str) -> None:
    for address, size in (("masks", "12px"), ("masks?large=true", "16.8px")):
        title = visit(f"{server}/{address}").locator(".js-plotly-plot .x2title").first
        expect(title).to_have_css("font-size", size)
    page = visit(f"{server}/decoding?step=2&large=true", size=(1366, 1200))
    expect(page.get_by_test_id("stTopNav").get_by_role("link")).to_have_count(len(sitemap.PAGES))
    matrix = page.locator("[data-is=matrix]")
    expect(page.locator(".player [data-is=counter]")).to_have_text("2 / 9")
    matrix.scroll_into_view_if_needed()
    settle(page)
    box = matrix.bounding_box()
    assert box is not None
    matrix.click(position={"x": 0.6 * box["width"], "y": 0.98 * box["height"]})
    expect(page.locator(".player [data-is=counter]")).to_have_text("9 / 9")  # the last row
