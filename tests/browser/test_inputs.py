"""The inputs page in a browser: pieces of the record, a sum that is the network's own, three tokenizers, a phone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Open, serve, settle


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that begins with the record that ships, whose model is there."""
    with serve(tmp_path_factory.mktemp("server")) as address:
        yield address


def test_pieces_stand_under_their_text_and_the_sum_is_checked(visit: Open, own: str) -> None:
    page = visit(f"{own}/inputs")
    columns = page.locator(".bv-piece")
    expect(columns.first).to_be_visible()
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


def test_three_tokenizers_on_a_phone_without_sideways_scrolling(visit: Open, own: str) -> None:
    page = visit(f"{own}/inputs?look=tokenizers&sample=Korean", scheme="dark", size=(420, 900))
    expect(page.locator(".bv-cut")).to_have_count(3)
    settle(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
