"""BERT and BART beside each other: both sides are computed from the visitor's text, on a desk and on a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from scripts.settled import settle
from tests.browser.conftest import Open


@pytest.mark.parametrize("size", [(1366, 768), (390, 844)], ids=["desk", "phone"])
@pytest.mark.some("desk")
def test_both_models_read_the_text(visit: Open, shipped: str, size: tuple[int, int]) -> None:
    page = visit(f"{shipped}/side?model=bart-tiny-en-de&text=The+dog+is+very+small.", size=size)
    maps = page.locator(".attention")
    expect(maps).to_have_count(2)
    settle(page)
    expect(page.get_by_text("Of all their heads, these two look")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    boxes = [box.bounding_box() for box in page.locator(".attention [data-is=plot]").all()]
    assert boxes[0] is not None
    assert boxes[1] is not None
    assert boxes[1]["y"] + boxes[1]["height"] <= size[1]  # both whole, on the first screen
    if size[0] > 600:
        assert boxes[0]["y"] == boxes[1]["y"]
