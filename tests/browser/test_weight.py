"""A first visit is light, and our style, which comes with the page, holds against Streamlit's."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page

from scripts.settled import settle


def weighed(page: Page, address: str) -> float:
    """The bytes that the browser was sent for this visit."""
    sent: list[float] = []
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.on("Network.loadingFinished", lambda one: sent.append(one["encodedDataLength"]))
    page.goto(address)
    settle(page)
    return sum(sent)


@pytest.mark.parametrize(("word", "most"), [("", 2_000_000), ("quiz", 2_000_000), ("parameters", 5_000_000)])
def test_a_first_visit_is_light_and_share_stands_beside_the_title(
    chrome: Browser, shipped: str, word: str, most: int
) -> None:
    with chrome.new_context(viewport={"width": 1366, "height": 768}, reduced_motion="reduce") as context:
        page = context.new_page()
        assert 300_000 < weighed(page, f"{shipped}/{word}") < most
        share, title = page.locator(".st-key-share_place button").bounding_box(), page.locator("h1").bounding_box()
        assert share is not None
        assert title is not None
        assert share["x"] > title["x"] + 600
