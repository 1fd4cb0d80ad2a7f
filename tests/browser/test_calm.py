"""The first visit of a page on a phone: little moves, little is sent, nothing is missing.

What moves on a desk, and what axe-core finds, is measured where test_accessibility.py visits every page.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Response

from bartviz.app.frame import page_list
from scripts.settled import settle
from tests.browser.conftest import PATIENCE, forget

STILL = 0.1  # layout shift of a good page; above 0.25 it is poor
WITH_CHART, WITHOUT = 5_000_000, 2_000_000  # bytes of a first visit
CHART = ".js-plotly-plot"
SHIFTS = """() => {
    const watch = new PerformanceObserver(() => {});
    watch.observe({ type: "layout-shift", buffered: true });
    const moves = watch.takeRecords().filter(({ hadRecentInput }) => !hadRecentInput);
    return moves.reduce((sum, { value }) => sum + value, 0);
}"""


def moved(page: Page) -> float:
    """The layout shift of a page since it was opened, as long as nobody has touched it: 0 where nothing moved."""
    shift: float = page.evaluate(SHIFTS)
    return shift


@pytest.fixture(scope="module")
def phone(chrome: Browser) -> Iterator[BrowserContext]:
    with chrome.new_context(viewport={"width": 390, "height": 844}, reduced_motion="reduce", has_touch=True) as context:
        context.set_default_timeout(PATIENCE)
        yield context


class Visit(NamedTuple):
    """What the first visit of a page moved, loaded (bytes) and missed, and whether it has a chart."""

    shift: float
    sent: float
    missing: list[str]
    has_chart: bool


def first_visit(phone: BrowserContext, address: str) -> Visit:
    page = phone.new_page()
    sent: list[float] = []
    missing: list[str] = []

    def answered(response: Response) -> None:
        if response.status >= 400:
            missing.append(response.url)

    page.on("response", answered)
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.clearBrowserCache")
    session.on("Network.loadingFinished", lambda one: sent.append(one["encodedDataLength"]))
    forget(page, address)
    page.goto(address)
    settle(page)
    shift, size, has_chart = moved(page), sum(sent), page.locator(CHART).count() > 0
    page.close()
    return Visit(shift, size, missing, has_chart)


@pytest.mark.some(page_list.PAGES[0].word, "compare")  # without and with a canvas
@pytest.mark.parametrize("entry", page_list.PAGES, ids=lambda entry: entry.word)
def test_a_first_visit_is_calm_and_light(phone: BrowserContext, shipped: str, entry: page_list.Page) -> None:
    address = f"{shipped}/{'' if entry is page_list.PAGES[0] else entry.word}"
    first = first_visit(phone, address)
    assert first.missing == []
    assert 300_000 < first.sent < (WITH_CHART if first.has_chart else WITHOUT)
    # On a busy machine a page may come in other pieces than it mostly does: what always moves moves again.
    assert first.shift <= STILL or first_visit(phone, address).shift <= STILL


def test_what_moves_is_measured(phone: BrowserContext, shipped: str) -> None:
    page = phone.new_page()
    page.goto(f"{shipped}/quiz")
    settle(page)
    page.evaluate(
        """() => {
            const late = document.createElement("div");
            late.style.height = "400px";
            document.querySelector("[data-testid=stMainBlockContainer]").prepend(late);
            return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        }"""
    )
    assert moved(page) > STILL
    page.close()
