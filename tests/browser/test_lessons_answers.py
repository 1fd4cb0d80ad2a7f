"""A lesson is walked to its end by touch alone on a phone, and by keys alone at a desk: every question is answered."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

pytest.importorskip("bartviz.features.lessons")

from tests.browser.conftest import Open
from tests.browser.lessons import begun, named, stands

LESSON = "attention"
RIGHT = ".bv-answer.bv-right"
# The innermost element with the focus, in components with a tree of their own too.
FOCUS = """(selector) => { let at = document.activeElement;
    while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
    return Boolean(at?.matches(selector)); }"""


def told(page: Page) -> str:
    """What is said of the last answer."""
    return page.locator(".bv-answer").inner_text()


def tap_until_right(page: Page, places: list[tuple[float, float]]) -> None:
    """Tap the map at these shares of its width and height, one after the other; each wrong one is told why."""
    plot = page.locator(".attention [data-is=plot]")
    for across, down in places:
        before = told(page)
        box = plot.bounding_box()
        assert box is not None
        plot.tap(position={"x": box["width"] * across, "y": box["height"] * down})
        expect(page.locator(".bv-answer")).not_to_have_text(before)
        if page.locator(RIGHT).count():
            return
    raise AssertionError(told(page))


def tap_option(page: Page) -> None:
    page.locator(".st-key-lesson_options button").nth(0).tap()
    expect(page.locator(".bv-answer.bv-wrong")).to_contain_text("28 of 64")
    page.locator(".st-key-lesson_options button").nth(2).tap()


def type_number(page: Page) -> None:
    page.locator(".st-key-lesson_number input").tap()
    page.keyboard.type("1")
    page.keyboard.press("Enter")


def tap_words(page: Page) -> None:
    page.locator(".ribbons .below .word", has_text="kaufen").tap()
    expect(page.locator(".bv-answer.bv-wrong")).to_contain_text("And now the English word")
    page.locator(".ribbons .above .word", has_text="car").tap()
    expect(page.locator(".bv-answer.bv-wrong")).to_contain_text("“car” got 0.05")
    page.locator(".ribbons .above .word", has_text="buy").tap()


# Of nine columns and rows: the word "to" is the fourth column, "car" the seventh row, and before it is "a".
COLUMNS = [(0.14 + (column + 0.5) / 9 * 0.84, 0.9) for column in (1, 3)]
CELLS = [(0.14 + (column + 0.5) / 9 * 0.84, 0.73) for column in (4, 5)]
TOUCHES: list[Callable[[Page], None]] = [
    tap_words,
    type_number,
    lambda page: tap_until_right(page, COLUMNS),
    lambda page: tap_until_right(page, CELLS),
    tap_option,
    lambda page: page.locator(".player [data-is=bars] li").nth(1).tap(),
]


def test_a_lesson_is_walked_by_touch_alone_on_a_phone(shipped: str, visit: Open) -> None:
    page = begun(lambda address: visit(address, size=(390, 844)), f"{shipped}/?lesson={LESSON}&at=1")
    for at, answer in enumerate(TOUCHES):
        stands(page, named(LESSON), at)
        answer(page)
        expect(page.locator(RIGHT)).to_be_visible()
        expect(page.locator(".bv-ask")).to_be_in_viewport()  # together with the picture
        page.locator(".st-key-lesson_next button").tap()
    expect(page.locator(".st-key-lesson_ended")).to_contain_text("Done: What attention is")


def keys(page: Page, to: str, *pressed: str) -> None:
    """Tab to an element, and press keys there."""
    for _ in range(80):
        if page.evaluate(FOCUS, to):
            break
        page.keyboard.press("Tab")
    else:
        raise AssertionError(f"Tab does not lead to {to}")
    for key in pressed:
        page.keyboard.press(key)


KEYS: list[Callable[[Page], None]] = [
    lambda page: keys(page, ".above .word", *["ArrowRight"] * 3, "Enter"),
    lambda page: keys(page, ".st-key-lesson_number input", "1", "Enter"),
    lambda page: keys(page, "[data-is=plot]", *["ArrowRight"] * 3, "Enter"),
    lambda page: keys(page, "[data-is=plot]", *["ArrowRight"] * 5, "Enter"),
    lambda page: keys(page, ".st-key-lesson_option_2 button", "Enter"),
    lambda page: keys(page, ".st-key-lesson_list input", "ArrowDown", "ArrowDown", "Enter"),
]


def test_a_lesson_is_walked_by_keys_alone_at_a_desk(shipped: str, visit: Open) -> None:
    page = begun(visit, f"{shipped}/?lesson={LESSON}&at=1")
    for at, answer in enumerate(KEYS):
        stands(page, named(LESSON), at)
        answer(page)
        expect(page.locator(RIGHT)).to_be_visible()
        expect(page.locator("#bartviz-lesson-said")).not_to_be_empty()
        page.keyboard.press("n")
    expect(page.locator(".st-key-lesson_ended")).to_contain_text("Done: What attention is")
