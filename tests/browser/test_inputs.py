"""The inputs page in a browser: pieces of the record, a sum equal to the network's, three tokenizers, a phone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from scripts.settled import settle
from tests.browser.conftest import Open


def test_pieces_stand_under_their_text_and_the_sum_is_checked(visit: Open, shipped: str) -> None:
    page = visit(f"{shipped}/inputs?level=intermediate")
    columns = page.locator(".bv-piece")
    expect(columns.first).to_be_visible()
    settle(page)
    text, chip, number = (columns.nth(2).locator("span").nth(i).bounding_box() for i in range(3))
    assert text is not None
    assert chip is not None
    assert number is not None
    assert text["y"] < chip["y"] < number["y"]
    page.get_by_role("radio", name="sum").click()
    expect(page.locator(".st-key-inputs_sum .nsewdrag").first).to_be_attached()
    expect(page.get_by_text("Self-check")).to_contain_text(": ok")
    settle(page)
    assert "look=sum" in page.url


@pytest.mark.thorough
def test_the_blocks_lead_to_their_pages_by_keys_on_a_phone(visit: Open, shipped: str) -> None:
    page = visit(f"{shipped}/inputs?blocks=true", scheme="dark", size=(390, 844))
    attention = page.get_by_role("link", name="Masked self-attention, 8 heads")
    expect(attention).to_be_visible()
    settle(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    embeddings = page.locator(".st-key-blocks_encoder").get_by_role("link", name="Embeddings")
    embeddings.focus()
    page.keyboard.press("Tab")  # to the next box
    expect(page.get_by_role("link", name="Self-attention, 8 heads", exact=True)).to_be_focused()
    embeddings.press("Enter")  # another part of this page
    expect(page.locator(".st-key-inputs_sum .nsewdrag").first).to_be_attached()
    settle(page)
    attention.press("Enter")
    page.wait_for_url(re.compile(r"/masks(\?.*)?$"), wait_until="commit")  # its default view leaves the address at once
    settle(page)
    expect(page.get_by_role("heading", level=1)).to_contain_text("masks")
