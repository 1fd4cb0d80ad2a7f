"""A first visit is light and calm: what it weighs, and how far its parts move while they come."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page

from scripts.settled import settle

# The layout shift of web.dev/cls: how much of the screen moved, times how far; below 0.1 is good.
WATCH = """new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.moved = (window.moved ?? 0) + entry.value;
}).observe({ type: "layout-shift", buffered: true })"""


def weighed(page: Page, address: str) -> tuple[float, float]:
    """The bytes that the browser was sent for this visit, and the layout shift."""
    sent = []
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.on("Network.loadingFinished", lambda one: sent.append(one["encodedDataLength"]))
    page.goto(address)
    settle(page)
    share, title = page.locator(".st-key-share_place button").bounding_box(), page.locator("h1").bounding_box()
    assert share is not None
    assert title is not None
    assert share["x"] > title["x"] + 600, "our style has to win over Streamlit's"
    page.evaluate(WATCH)
    page.wait_for_function("new Promise((done) => requestAnimationFrame(() => done(true)))")
    return sum(sent), float(page.evaluate("window.moved ?? 0"))


@pytest.mark.parametrize(("word", "most"), [("", 2_000_000), ("quiz", 2_000_000), ("parameters", 5_000_000)])
def test_a_first_visit_is_light_and_nothing_jumps(chrome: Browser, shipped: str, word: str, most: int) -> None:
    with chrome.new_context(viewport={"width": 1366, "height": 768}, reduced_motion="reduce") as context:
        size, moved = weighed(context.new_page(), f"{shipped}/{word}")
    assert 300_000 < size < most
    assert moved < 0.1
