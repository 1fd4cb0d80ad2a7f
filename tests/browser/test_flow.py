"""One visit from end to end on the shipped models: type, run, choose a head, play a step, download a file."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

import bartviz
from bartviz.serving.first_record import FILE
from scripts.settled import settle
from tests.browser.conftest import Open, go

TEXT = "The weather is nice today."
HOSTILE = (  # in few texts, for each is walked through the pages
    "</script><script>alert(1)</script> '\"><img src=x onerror=alert(1)>",
    "<!--<script> ![a](http://example.org/a.png) **b** # h ##ing $x$ :red[r] %{z} 1999 12 3 2024-01-01",
    "<s> </s> <pad> <mask> 나는 차를 사고 싶어요 👨‍👩‍👧 e\u0301 the the the the",
)


def run(page: Page, text: str) -> None:
    """Type a text into the sidebar, run it, and wait until the page shows it."""
    page.get_by_test_id("stSidebar").get_by_role("textbox", name="Text").fill(text)
    page.get_by_test_id("stSidebar").get_by_role("button", name=re.compile("^Run")).click()
    settle(page)
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    settle(page)


def test_the_start_record_is_the_models_own() -> None:
    """The saved record is what the model that ships says now."""
    saved = bartviz.open(FILE)
    now = bartviz.capture(bartviz.load("bart-tiny-en-de"), saved.source_text)
    assert saved.model.fingerprint == now.model.fingerprint
    assert saved.target_text == now.target_text


@pytest.mark.thorough
def test_a_visit_from_text_to_file(visit: Open, shipped: str) -> None:
    page = visit(f"{shipped}/?level=expert")  # who sees every page and the whole status line
    run(page, TEXT)
    expect(page.locator(".ribbons .above")).to_contain_text("weather")
    go(page, "Heads")
    page.get_by_text("checked when it was made").wait_for()
    go(page, "Choosing words (decoding)")
    page.locator(".player").first.wait_for()
    go(page, "Parameters")
    go(page, "Hidden words (masks)")
    expect(page.get_by_test_id("stMain")).to_contain_text("causal")


@pytest.mark.some(1)
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text_on_every_page(text: str, visit: Open, shipped: str) -> None:
    page = visit(f"{shipped}/?level=expert")
    page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
    run(page, text)
    for name in ("Hidden words (masks)", "Heads", "Choosing words (decoding)", "Start"):
        go(page, name)
        expect(page.get_by_text("checked when it was made")).to_be_visible()
        assert page.locator("img[src='x']").count() == 0
