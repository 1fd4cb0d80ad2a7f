"""The corpus page in a browser: an example opens in heads, with the head that was chosen; Korean on a phone."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from scripts.settled import settle
from tests.browser.conftest import Open


def test_an_example_opens_as_a_record_with_the_head_chosen(visit: Open, shipped: str) -> None:
    page = visit(f"{shipped}/corpus?layer=1&head=4")
    page.locator(".st-key-corpus_highest_1_open button").first.click()
    expect(page).to_have_url(re.compile(r"/heads\?"))
    expect(page.locator(".bv-lead").first).to_contain_text("L1H4")


def test_in_korean_and_on_a_phone_nothing_is_wider_than_the_screen(visit: Open, shipped: str) -> None:
    page = visit(f"{shipped}/corpus?lang=ko", size=(390, 844))
    expect(page.get_by_text("가장 비슷한 헤드")).to_be_visible()
    settle(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
