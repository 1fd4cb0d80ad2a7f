"""A lesson is walked to its end by touch alone on a phone, and by keys alone at a desk: every question is answered."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

pytest.importorskip("bartviz.features.lessons")

from bartviz.features.lessons.answers import MOST_PAINT, Number, Painted, Touch
from bartviz.serving import saved_records as records
from scripts.settled import settle
from tests.browser.conftest import Open
from tests.browser.lessons import begun, named, press, stands

LESSON = "attention"
RIGHT = ".bv-answer.bv-said-right"
# The innermost element with the focus, in components with a tree of their own too.
FOCUS = """(selector) => { let at = document.activeElement;
    while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
    return Boolean(at?.matches(selector)); }"""


def told(page: Page) -> str:
    """What is said of the last answer."""
    return page.locator(".bv-answer").text_content() or ""


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
    expect(page.locator(".bv-answer.bv-said-wrong")).to_contain_text("28 of 64")
    page.locator(".st-key-lesson_options button").nth(2).tap()


def type_number(page: Page) -> None:
    page.locator(".st-key-lesson_number input").tap()
    page.keyboard.type("1")
    page.keyboard.press("Enter")


def tap_words(page: Page) -> None:
    page.locator(".ribbons .below .word", has_text="kaufen").tap()
    expect(page.locator(".bv-answer.bv-said-wrong")).to_contain_text("And now the word above")
    page.locator(".ribbons .above .word", has_text="car").tap()
    expect(page.locator(".bv-answer.bv-said-wrong")).to_contain_text("“car” got 0.05")
    page.locator(".ribbons .above .word", has_text="buy").tap()


def levels() -> list[int]:
    """A guess that is close: the weights of the row in the steps of the brush."""
    answer = named(LESSON).steps[-1].answer
    assert isinstance(answer, Painted)
    weights = answer.line(records.read("start")).weights
    return [round(MOST_PAINT * float(weight / weights.max())) for weight in weights]


def tap_paint(page: Page) -> None:
    expect(page.locator(".painting .compare")).to_be_disabled()
    for word, level in enumerate(levels()):
        for _more in range(level):
            page.locator(".painting li").nth(word).tap()
    page.locator(".painting .compare").tap()


def key_paint(page: Page) -> None:
    keys(page, ".painting li")
    for level in levels():
        for _more in range(level):
            page.keyboard.press("Space")
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")


# Of nine columns and rows: the word "to" is the fourth column, "buy" the fifth row, and before it is "to".
COLUMNS = [(0.14 + (column + 0.5) / 9 * 0.84, 0.9) for column in (1, 3)]
CELLS = [(0.14 + (column + 0.5) / 9 * 0.84, 0.56) for column in (4, 3)]
TOUCHES: list[Callable[[Page], None]] = [
    tap_words,
    type_number,
    lambda page: tap_until_right(page, COLUMNS),
    lambda page: tap_until_right(page, CELLS),
    tap_option,
    lambda page: page.locator(".player [data-is=bars] li").nth(1).tap(),
    tap_paint,
]


@pytest.mark.thorough  # what is pressed by keys below is pressed by fingers here
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
    lambda page: keys(page, "[data-is=plot]", *["ArrowRight"] * 3, "Space"),
    lambda page: keys(page, ".st-key-lesson_option_2 button", "Enter"),
    lambda page: keys(page, ".st-key-lesson_list input", "ArrowDown", "ArrowDown", "Enter"),
    key_paint,
]


def test_a_lesson_is_walked_by_keys_alone_at_a_desk(shipped: str, visit: Open) -> None:
    page = begun(visit, f"{shipped}/?lesson={LESSON}&at=1")
    for at, answer in enumerate(KEYS):
        stands(page, named(LESSON), at)
        settle(page)  # the picture of the step before may still have the focus, and its own place
        answer(page)
        expect(page.locator(RIGHT)).to_be_visible()
        expect(page.locator("#bartviz-lesson-said")).to_have_text(re.compile("^(Right\\.|Close:) "))
        settle(page)  # a field that has the focus until its answer is judged would take the key for a letter
        page.keyboard.press("n")
    expect(page.locator(".st-key-lesson_ended")).to_contain_text("Done: What attention is")


# Whether what has the focus, in trees of their own too, is below the strip of the lesson.
CLEAR = """() => { let at = document.activeElement;
    while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
    const strip = document.querySelector(".st-key-lesson").getBoundingClientRect().bottom;
    return at.getBoundingClientRect().bottom > strip + 1; }"""


def test_a_wrong_word_leaves_the_ribbons_of_the_one_that_was_asked_about(shipped: str, visit: Open) -> None:
    page = begun(visit, f"{shipped}/?lesson={LESSON}&at=1")
    page.locator(".ribbons .above .word", has_text="car").click()
    expect(page.locator(".bv-answer.bv-said-wrong")).to_be_visible()
    page.mouse.move(2, 2)
    expect(page.locator(".ribbons .word.chosen")).to_have_text("kaufen")
    expect(page.locator(".ribbons .task")).to_be_empty()  # what the start page asks for is hidden in a lesson


def test_the_words_under_a_map_wait_for_the_answer_also_when_a_step_is_come_back_to(shipped: str, visit: Open) -> None:
    at = next(
        at
        for at, step in enumerate(named(LESSON).steps)
        if isinstance(step.answer, Touch) and step.answer.side == "cell"
    )
    page = begun(visit, f"{shipped}/?lesson={LESSON}&at={at + 1}")
    said, words = page.locator(".attention .said"), page.locator(".attention .under")
    for _visit in range(2):
        stands(page, named(LESSON), at)
        page.mouse.move(2, 2)
        expect(said).to_be_hidden()
        expect(words).to_be_hidden()
        page.locator(".attention [data-is=plot]").hover()
        expect(said).to_be_visible()  # what is pointed at is read
        page.mouse.move(2, 2)
        press(page, "answer", by_keys=True)
        expect(said).to_be_visible()
        expect(words).to_be_visible()
        settle(page)
        press(page, "next", by_keys=True)
        stands(page, named(LESSON), at + 1)
        press(page, "back", by_keys=True)


def test_a_number_keeps_the_focus_until_it_is_right_and_then_what_is_said_has_it(shipped: str, visit: Open) -> None:
    at = next(at for at, step in enumerate(named(LESSON).steps) if isinstance(step.answer, Number))
    page = begun(visit, f"{shipped}/?lesson={LESSON}&at={at + 1}")
    field = page.locator(".st-key-lesson_number input")
    field.click()
    page.keyboard.type("0.5")
    page.keyboard.press("Enter")
    expect(page.locator(".bv-answer.bv-said-wrong")).to_be_visible()
    settle(page)
    expect(field).to_be_focused()
    field.fill("1")
    page.keyboard.press("Enter")
    expect(page.locator(RIGHT)).to_be_focused()


def test_what_gets_the_focus_is_not_under_the_strip(shipped: str, visit: Open) -> None:
    page = begun(visit, f"{shipped}/?lesson={LESSON}&at=1")
    settle(page)
    keys(page, ".below .word")
    page.evaluate("document.querySelector('[data-testid=stMain]').scrollTo(0, 9999)")
    page.keyboard.press("Shift+Tab")
    assert page.evaluate(FOCUS, ".above .word")
    page.wait_for_function(CLEAR)


def middle(word: Locator) -> tuple[float, float]:
    box = word.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_a_guess_is_painted_by_one_drag_and_stands_beside_the_weights(shipped: str, visit: Open) -> None:
    page = begun(visit, f"{shipped}/?lesson={LESSON}&at={len(TOUCHES)}")
    expect(page.locator(".attention")).to_be_hidden()  # the picture is covered
    words = page.locator(".painting li")
    (x, y), (to_x, to_y) = (middle(words.nth(place)) for place in (1, 3))
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(to_x, to_y, steps=20)
    page.mouse.up()
    painted = [int(words.nth(place).get_attribute("aria-valuenow") or 0) for place in range(words.count())]
    assert painted[:5] == [0, 1, 1, 1, 0]
    expect(words.nth(2)).to_have_attribute("aria-valuetext", "want: 33% of your weight")
    page.locator(".painting .compare").click()
    expect(page.locator(".bv-answer")).to_contain_text("overlap by")
    expect(words.nth(2)).to_have_attribute("aria-label", re.compile("^want: you 33%, the model \\d+%$"))
    expect(page.locator(".st-key-lesson_next button")).to_contain_text("Finish")
    expect(page.locator(".attention")).to_be_visible()
    page.locator(".st-key-lesson_guess_again button").click()
    expect(page.locator(".attention")).to_be_hidden()
    expect(words.nth(2)).to_have_attribute("aria-valuetext", "want: 33% of your weight")  # to be changed
    words.nth(0).click()
    page.locator(".painting .compare").click()
    expect(words.nth(2)).to_have_attribute("aria-label", re.compile("^want: you 25%, the model \\d+%$"))
