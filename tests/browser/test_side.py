"""BERT and BART beside each other: both sides are computed from the visitor's text, on a desk and on a phone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from scripts.settled import settle
from tests.browser.conftest import Open
from tests.browser.finger import place_in


@pytest.mark.parametrize("size", [(1366, 768), (390, 844)], ids=["desk", "phone"])
@pytest.mark.some("desk")
def test_both_models_read_the_text(visit: Open, shipped: str, size: tuple[int, int]) -> None:
    page = visit(f"{shipped}/side?model=bart-tiny-en-de&text=The+dog+is+very+small.", size=size)
    maps = page.locator(".attention")
    expect(maps).to_have_count(2)
    settle(page)
    expect(page.get_by_text("Of all their heads, these two are most alike.")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    boxes = [box.bounding_box() for box in page.locator(".attention [data-is=plot]").all()]
    assert boxes[0] is not None
    assert boxes[1] is not None
    assert boxes[0]["y"] == boxes[1]["y"]
    assert boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"]
    assert boxes[1]["y"] + boxes[1]["height"] <= size[1]  # both whole on the first screen
    above = [page.locator(f".st-key-side_{part}").bounding_box() for part in ("masks", "said", "maps")]
    tops = [box["y"] for box in above if box is not None]
    assert len(tops) == 3
    assert tops == sorted(tops)  # who has what, what both share, then the maps
    most = 80 if size[0] > 640 else 140  # on a phone the pickers have a line each
    for side, box in zip(("left", "right"), boxes, strict=True):  # the picker of a head is right above its map
        picker = page.locator(f".st-key-{side}").bounding_box()
        assert picker is not None
        assert box is not None
        assert 0 <= box["y"] - picker["y"] - picker["height"] < most


def test_a_word_that_is_chosen_in_one_map_is_framed_in_both(visit: Open, shipped: str) -> None:
    page = visit(f"{shipped}/side?model=bart-tiny-en-de&text=The+dog+is+very+small.", size=(390, 844))
    said = page.locator(".attention [data-is=said]")
    expect(said).to_have_count(2)
    settle(page)
    plot = page.locator(".attention [data-is=plot]").first
    box = plot.bounding_box()
    assert box is not None
    assert box["height"] >= (8 + 2) * 24  # its eight rows are as high as a finger needs, and their labels have room
    for down in (0.5, 0.7):  # two of the rows in the middle
        before = said.first.text_content() or ""
        page.touchscreen.tap(*place_in(plot, 0.04, down))
        expect(said.first).not_to_have_text(before)
        word = re.search("“(.*?)”", said.first.text_content() or "")
        assert word is not None
        expect(said.last).to_contain_text(word[0])
