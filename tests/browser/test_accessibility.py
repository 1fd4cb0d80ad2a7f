"""Every page, on a desk and on a phone in the dark: nothing serious for axe-core, nothing too wide, little moves."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from bartviz.app.frame import page_list
from scripts.settled import settle
from tests.browser.axe import AXE, findings
from tests.browser.conftest import Open
from tests.browser.test_calm import STILL, moved

TALL = (1366, 1080)  # the more is seen, the more can move
WITHOUT = {"lessons", "inputs", "quiz", "textbook", "experiments"}  # pages without a picture that takes the focus
STOPS = 12  # presses of Tab from the beginning of a page's content to its first picture, at most
PICTURE = """.stPlotlyChart, .bv-repair, [data-testid=stMain]
    :is([data-testid=stBidiComponentRegular], [data-testid=stBidiComponentIsolated])"""
IN_PICTURE = "(picture) => document.activeElement.closest(picture) !== null"


def stops(page: Page) -> int:
    """How often Tab is pressed from the beginning of the content, where a page's first link leads, to a picture."""
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)  # a page may still run its model
    settle(page)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    for count in range(1, STOPS + 1):
        page.keyboard.press("Tab")
        if page.evaluate(IN_PICTURE, PICTURE):
            return count
    return STOPS + 1


@pytest.mark.some("start", "decoding")
@pytest.mark.parametrize("entry", page_list.PAGES, ids=lambda entry: entry.word)
def test_axe_finds_nothing_serious_and_nothing_is_too_wide(entry: page_list.Page, visit: Open, shipped: str) -> None:
    address = f"{shipped}/{'' if entry is page_list.PAGES[0] else entry.word}"
    page = visit(address, size=TALL)
    # A busy machine may draw in other pieces, once.
    assert moved(page) <= STILL or moved(visit(address, size=TALL)) <= STILL
    assert entry.word in WITHOUT or stops(page) <= STOPS
    page.evaluate("document.activeElement.blur()")
    page.set_viewport_size({"width": 1366, "height": 768})
    assert findings(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 1366
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 390, "height": 844})
    settle(page)  # the script runs again for dark figures, and Streamlit fades what is old meanwhile
    assert findings(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_axe_finds_what_is_wrong(visit: Open, shipped: str) -> None:
    page = visit(f"{shipped}/lessons")
    page.evaluate("document.body.append(document.createElement('button'))")  # beside the app: no run takes it away
    assert [name for name, _nodes in findings(page)] == ["button-name"]


def test_what_is_read_on_a_control_is_in_its_name(visit: Open, shipped: str) -> None:
    """Who says what a button shows must reach it by voice (WCAG 2.5.3)."""
    page = visit(f"{shipped}/decoding?step=3")
    page.evaluate(AXE.read_text("utf-8"))
    rule = "label-content-name-mismatch"
    settle(page)
    found = page.evaluate(
        "async (rule) => (await axe.run({ runOnly: [rule] })).violations.flatMap(({ nodes }) => "
        "nodes.map(({ html }) => html))",
        rule,
    )
    assert found == []
    page.evaluate(
        "() => document.body.insertAdjacentHTML('beforeend', '<button aria-label=other>shown</button>')"
    )  # the rule is there
    assert page.evaluate("async (rule) => (await axe.run({ runOnly: [rule] })).violations.length", rule) == 1
