"""A first visit is light, and our style, which comes with the page, holds against Streamlit's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from scripts.settled import settle

ROOT = Path(__file__).parent.parent.parent


def weighed(page: Page, address: str) -> float:
    """The bytes that the browser was sent for this visit."""
    sent: list[float] = []
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.on("Network.loadingFinished", lambda one: sent.append(one["encodedDataLength"]))
    page.goto(address)
    settle(page)
    return sum(sent)


def told(document: str, pattern: str) -> float:
    """The bytes that a document names."""
    (found,) = re.findall(pattern, " ".join((ROOT / document).read_text("utf-8").split()))
    return float(found) * 1e6


@pytest.mark.some(1)
@pytest.mark.parametrize(
    ("word", "document", "pattern"),
    [
        ("", "README.md", r"a first visit loads ([\d.]+) MB"),
        ("quiz", "README.md", r"a first visit loads ([\d.]+) MB"),
        ("parameters", "docs/deploy.md", r"for a first visit, ([\d.]+) MB with a chart"),
    ],
)
def test_a_first_visit_is_light_and_share_stands_beside_the_title(
    chrome: Browser, shipped: str, word: str, document: str, pattern: str
) -> None:
    with chrome.new_context(viewport={"width": 1366, "height": 768}, reduced_motion="reduce") as context:
        page = context.new_page()
        most = told(document, pattern) * 4 / 3
        assert most / 4 < weighed(page, f"{shipped}/{word}") < most
        share = page.get_by_role("button", name="Share", exact=True).bounding_box()
        title = page.locator("h1").bounding_box()
        assert share is not None
        assert title is not None
        assert share["x"] > title["x"] + 600
