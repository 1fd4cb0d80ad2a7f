"""The inputs page in a browser: pieces of the record, a sum equal to the network's, three tokenizers, a phone."""

from __future__ import annotations

from playwright.sync_api import expect

from scripts.settled import settle
from tests.browser.conftest import Open


def test_pieces_stand_under_their_text_and_the_sum_is_checked(visit: Open, shipped: str) -> None:
    page = visit(f"{shipped}/inputs?level=intermediate")
    word = page.locator(".bv-word").nth(2)
    expect(word).to_be_visible()
    settle(page)
    text, chip, number = (word.locator(part).bounding_box() for part in (".bv-from", ".bv-chip", ".bv-id"))
    assert text is not None
    assert chip is not None
    assert number is not None
    assert text["y"] < chip["y"] < number["y"]
    page.get_by_role("radio", name="embeddings").click()
    expect(page.locator(".st-key-inputs_sum .nsewdrag").first).to_be_attached()
    expect(page.get_by_text("Self-check")).to_contain_text(": ok")
    settle(page)
    assert "look=sum" in page.url


def test_the_value_of_a_slider_stands_in_one_line(visit: Open, shipped: str) -> None:
    page = visit(f"{shipped}/inputs?look=positions&rows=119")
    value = page.get_by_test_id("stSliderThumbValue")
    expect(value).to_have_text("119")
    lines = value.evaluate("node => node.offsetHeight / parseFloat(getComputedStyle(node).lineHeight)")
    assert lines < 1.5
