"""The map of the model: a box opens its page, by mouse and by keys, and the strip of that page leads back."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from scripts.settled import settle
from tests.browser.conftest import Open

DRAWN = "maps => maps.every(map => map.getContext('2d').getImageData(0, 0, map.width, map.height).data.some(Boolean))"


def test_a_box_opens_its_page_and_the_strip_leads_back(visit: Open, shipped: str) -> None:
    page = visit(f"{shipped}/map")
    cross = page.get_by_role("button", name="Cross-attention")
    expect(cross.locator("canvas")).to_have_count(4)  # one for each layer
    assert page.locator(".model canvas").evaluate_all(DRAWN)
    for line in ("across", "out"):
        assert page.locator(f".model .bridge .line.{line}").get_attribute("d")
    cross.click()
    page.wait_for_url(re.compile(r"/heads"), wait_until="commit")
    settle(page)
    expect(page.locator(".bv-way [aria-current]")).to_have_text("cross-attention")
    page.get_by_test_id("stPageLink").get_by_role("link", name="Map", exact=True).click()
    expect(cross).to_be_visible()


@pytest.mark.thorough
def test_boxes_are_reached_by_keys_on_a_phone(visit: Open, shipped: str) -> None:
    page = visit(f"{shipped}/map", scheme="dark", size=(390, 844))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("button", name="Source text").focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("button", name="Embeddings").first).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("button", name="Self-attention, 8 heads").first).to_be_focused()
    page.get_by_role("button", name="Masked self-attention").press("Enter")
    page.wait_for_url(re.compile(r"/masks"), wait_until="commit")
    settle(page)
    expect(page.get_by_role("heading", level=1)).to_contain_text("masks")


@pytest.mark.parametrize(
    ("large", "size", "least"), [("true", (1920, 1080), 1.3), ("true", (1366, 768), 1), ("false", (1366, 768), 1)]
)
def test_the_whole_model_is_on_one_screen(
    visit: Open, shipped: str, large: str, size: tuple[int, int], least: float
) -> None:
    page = visit(f"{shipped}/map?large={large}", size=size)
    settle(page)
    for box in page.locator(".model .box").all():
        expect(box).to_be_in_viewport(ratio=1)
    letters = page.locator(".model .name").first.evaluate(
        "(name) => parseFloat(getComputedStyle(name).fontSize) * (name.currentCSSZoom ?? 1)"
    )
    assert letters >= least * 0.95 * 15 - 0.1  # pixels
