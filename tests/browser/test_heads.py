"""The heads page in a browser: a click on a small map makes it large and moves nothing."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from scripts.settled import settle
from tests.browser.conftest import Open


def test_a_click_on_a_small_map_makes_it_the_large_one(visit: Open, server: str) -> None:
    page = visit(f"{server}/heads?layer=0&head=0")
    name = page.locator(".attention [data-is=name]")
    expect(name).to_have_text("Head 0 of layer 0")
    box = page.locator(".attention [data-is=overview]").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] * 0.5, box["y"] + 40)
    expect(name).to_have_text("Head 2 of layer 0")
    expect(page.locator(".bv-lead")).to_contain_text("Head 2 of layer 0")
    expect(page).to_have_url(re.compile("head=2"))


@pytest.mark.parametrize("size", [(1366, 768), (390, 844)])
def test_the_name_of_the_large_map_stands_above_it_and_not_above_the_small_ones(
    visit: Open, server: str, size: tuple[int, int]
) -> None:
    page = visit(f"{server}/heads?layer=0&head=0", size=size)
    expect(page.locator(".attention [data-is=name]")).to_have_text("Head 0 of layer 0")
    name, large, small = (
        page.locator(f".attention [data-is={part}]").bounding_box() for part in ("name", "plot", "overview")
    )
    assert name is not None
    assert large is not None
    assert small is not None
    assert name["y"] + name["height"] <= large["y"]
    assert name["x"] >= large["x"] - 10
    assert name["x"] >= small["x"] + small["width"] or name["y"] >= small["y"] + small["height"]


@pytest.mark.thorough
def test_the_picture_stays_where_it_is_when_the_sentence_above_it_wraps(visit: Open, server: str) -> None:
    """A picture that jumped by a line made the next click choose the head above."""
    page = visit(f"{server}/heads?layer=0&head=0")
    expect(page.locator(".attention [data-is=name]")).to_have_text("Head 0 of layer 0")
    settle(page)
    tops, lines = [], []
    for words in (3, 25):  # a line and two
        lead = page.locator(".bv-lead").first
        lead.evaluate("(lead, words) => { lead.textContent = 'sentence '.repeat(words); }", words)
        text = lead.evaluate(
            "lead => { const all = new Range(); all.selectNodeContents(lead);"
            " return new Set([...all.getClientRects()].map(box => box.top)).size; }"
        )
        lines.append(text)
        box = page.locator(".attention").first.bounding_box()
        assert box is not None
        tops.append(box["y"])
    assert lines == [1, 2]
    assert tops[0] == tops[1]
