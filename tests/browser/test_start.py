"""The start page: words and ribbons by mouse, touch and keyboard; and the visitor's own text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from bartviz.analysis.start import ribbons
from scripts.settled import settle
from tests.browser.conftest import Open, take
from tests.support import stand_in


def word(page: Page, line: str, index: int) -> Locator:
    return page.locator(f".ribbons .{line} .word").nth(index)


def lit(page: Page) -> int:
    return page.locator(".ribbons path.lit").count()


def test_hover_highlights_the_ribbons_of_a_word_and_describes_them(visit: Open, server: str) -> None:
    page, found = visit(f"{server}/?level=intermediate"), ribbons(stand_in.record())
    expect(page.locator(".ribbons path")).to_have_count(len(found.edges()))
    word(page, "below", 3).hover()
    expect(page.locator(".sentence")).to_have_text(found.say_below[3])
    assert lit(page) == sum(t == 3 for t, _, _ in found.edges())
    word(page, "above", 4).hover()
    expect(page.locator(".sentence")).to_have_text(found.say_above[4])
    page.mouse.move(5, 5)
    expect(page.locator(".sentence")).to_contain_text("Touch a word or point at it")
    assert lit(page) == 0


@pytest.mark.thorough
def test_a_click_selects_a_word_and_another_click_deselects_it(visit: Open, server: str) -> None:
    page, found = visit(f"{server}/?level=intermediate"), ribbons(stand_in.record())
    word(page, "below", 2).click()
    page.mouse.move(5, 5)
    expect(page.locator(".sentence")).to_have_text(found.say_below[2])
    word(page, "below", 2).click()
    page.mouse.move(5, 5)
    expect(page.locator(".sentence")).to_contain_text("Touch a word or point at it")


@pytest.mark.thorough
def test_a_long_text_leaves_no_empty_page_below(visit: Open, shipped: str) -> None:
    text = "+".join(["The+cat+is+sleeping+on+the+sofa+and+the+dog+is+playing+in+the+garden."] * 5)
    page = visit(f"{shipped}/?text={text}&model=bart-tiny-en-de")
    expect(page.locator(".ribbons .above .word")).to_have_count(48)
    for line in ("above", "below"):  # in one row: ribbons run behind no words
        boxes = page.locator(f".ribbons .{line} .word:not(.special)").evaluate_all(
            "(words) => words.map((word) => word.getBoundingClientRect().top)"
        )
        assert max(boxes) - min(boxes) < 1
    last = page.locator(".ribbons .below .word").last
    expect(last).not_to_be_in_viewport()
    last.click()  # moves there
    expect(last).to_be_in_viewport(ratio=1)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.get_by_test_id("stMain").evaluate("(main) => main.scrollHeight") < 2500


def test_a_tap_keeps_a_word_on_a_phone(visit: Open, server: str) -> None:
    page, found = visit(f"{server}/?level=intermediate", size=(420, 900)), ribbons(stand_in.record())
    word(page, "below", 2).tap()
    expect(page.locator(".sentence")).to_have_text(found.say_below[2])
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 420  # nothing hangs over the edge


@pytest.mark.thorough
def test_arrow_keys_walk_along_and_between_the_lines(visit: Open, server: str) -> None:
    page, found = visit(f"{server}/?level=intermediate"), ribbons(stand_in.record())
    word(page, "below", 0).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".sentence")).to_have_text(found.say_below[2])
    expect(word(page, "below", 2)).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(word(page, "above", 2)).to_be_focused()
    expect(word(page, "above", 2)).to_have_accessible_name(
        found.above[2].text
    )  # the sentence is read when it is chosen
    page.keyboard.press("Enter")  # what the arrow has shown stays
    expect(page.locator(".sentence")).to_have_text(found.say_above[2])
    page.keyboard.press("Escape")
    assert lit(page) == 0


@pytest.mark.thorough
def test_it_plays_once_by_itself_and_not_where_motion_is_unwanted(visit: Open, server: str) -> None:
    page, found = visit(f"{server}/?level=intermediate", still=False), ribbons(stand_in.record())
    expect(page.locator(".sentence")).to_have_text(found.say_below[1])
    expect(page.locator(".play")).to_have_text("Pause")
    still = visit(f"{server}/?level=intermediate")
    expect(still.locator(".play")).to_have_text("Play")
    still.wait_for_timeout(1500)
    assert lit(still) == 0
    still.locator(".play").click()
    expect(still.locator(".sentence")).to_have_text(found.say_below[1])


def test_a_newcomer_is_led_on_by_three_taps(visit: Open, shipped: str) -> None:
    page = visit(f"{shipped}/?level=beginner")
    sentence, task = page.locator(".ribbons .sentence"), page.locator(".ribbons .task")
    expect(sentence).to_have_text("Touch “kaufen”: where did this head look?")
    kaufen = page.locator(".ribbons .below .word", has_text="kaufen")
    gloss = "(word) => [getComputedStyle(word, '::after').content, getComputedStyle(word, '::after').visibility]"
    assert kaufen.evaluate(gloss) == ['"↑ buy"', "hidden"]
    kaufen.click()
    assert kaufen.evaluate(gloss) == ['"↑ buy"', "visible"]
    expect(sentence).to_have_text(
        "Before the model wrote “kaufen”, this head looked at “buy” more than at any other word."
    )
    expect(task).to_have_text("Touch another one.")
    page.locator(".ribbons .below .word", has_text="Auto").click()
    expect(task).to_have_text("Now a sentence of your own: type it below.")
    page.keyboard.press("Escape")
    expect(sentence).to_have_text("Now a sentence of your own: type it below.")
    own = page.locator(".st-key-own_text input")
    own.fill("The dog sees a house.")
    own.press("Enter")
    expect(page.locator(".ribbons .above")).to_have_text("Thedogseesahouse.")
    expect(page.locator(".ribbons .texts")).to_have_text(re.compile("Touch (“|a word)"))  # no word of it was touched
    page.get_by_role("button", name="The first lesson").click()
    expect(page.locator(".st-key-lesson")).to_contain_text("Step 1 of 7")
    assert "lesson=attention" in page.url


@pytest.mark.thorough
def test_in_a_low_window_the_ways_on_are_in_sight_below_the_picture(visit: Open, shipped: str) -> None:
    page = visit(f"{shipped}/", size=(1366, 768))
    settle(page)
    expect(page.locator(".st-key-cards")).to_be_in_viewport(ratio=1)
    page = visit(f"{shipped}/?large=true", size=(1366, 768))
    settle(page)
    expect(page.locator(".st-key-own_text input")).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize(
    "text", ["The old man repairs his bicycle in the garden.", "My brother reads a new book in bed."]
)
def test_lines_that_do_not_fit_begin_at_their_first_words(visit: Open, shipped: str, text: str) -> None:
    """A line a little too long for letters of the least size once hid its beginning, and nothing brought it back."""
    page = visit(f"{shipped}/?level=beginner&text={text.replace(' ', '+')}", size=(390, 844))
    expect(word(page, "above", 0)).to_have_text(text.split(maxsplit=1)[0])
    left = page.locator(".ribbons .pan").bounding_box()
    assert left is not None
    for line in ("above", "below"):
        box = word(page, line, 0).bounding_box()
        assert box is not None
        assert box["x"] >= left["x"]


def test_on_a_phone_the_first_lesson_is_in_sight_below_the_picture(visit: Open, shipped: str) -> None:
    page = visit(f"{shipped}/?level=beginner", size=(390, 844))
    lesson, word = page.get_by_role("button", name="The first lesson"), page.locator(".ribbons .below .word").nth(4)
    expect(lesson).to_be_in_viewport(ratio=1)
    before = word.bounding_box()
    for touched in (4, 3):
        page.locator(".ribbons .below .word").nth(touched).tap()
    expect(lesson).to_be_in_viewport(ratio=1)
    assert word.bounding_box() == before  # nothing moves under the finger


@pytest.mark.parametrize("large", ["", "&large=true"])
def test_the_word_below_a_word_is_whole(visit: Open, shipped: str, large: str) -> None:
    page = visit(f"{shipped}/?level=beginner{large}", size=(1920, 1080))
    page.locator(".ribbons .below .word", has_text="kaufen").click()
    room, end = page.locator(".ribbons").evaluate("""(root) => {
        const pan = root.querySelector(".pan"), word = root.querySelector(".below .chosen");
        const [distance, high] = ["top", "height"].map((name) => parseFloat(getComputedStyle(word, "::after")[name]));
        const from = word.getBoundingClientRect().top - pan.getBoundingClientRect().top;
        return [pan.clientHeight, from + distance + high];
    }""")
    assert end <= room


def test_the_model_comes_as_a_page_that_runs_it(visit: Open, shipped: str, chrome: Browser, tmp_path: Path) -> None:
    page = visit(shipped)
    file = tmp_path / "model.html"
    assert take(page, page.get_by_role("button", name="Live page"), file) == "bartviz-model.html"
    opened = chrome.new_page()
    opened.goto(file.as_uri())
    opened.locator("html[data-ready]").wait_for(state="attached")
    said = opened.evaluate("""async () => {
        const record = await (await bartviz.model).capture("A dog sleeps.");
        return [bartviz.names, record.source.ids.length]; }""")
    opened.close()
    assert said[0] == ["bart-tiny-en-de"]
    assert said[1] > 3


def test_hovering_asks_nothing_of_the_server(visit: Open, server: str) -> None:
    page = visit(f"{server}/?level=intermediate")
    sent: list[object] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame)))  # noqa: PLW0108
    page.reload()
    settle(page)
    before = len(sent)
    for index in (1, 2, 3, 4):
        word(page, "below", index).hover()
    settle(page)
    assert before > 0
    assert len(sent) == before


def test_the_address_keeps_the_touched_word_and_back_returns_to_the_one_before(visit: Open, shipped: str) -> None:
    page = visit(f"{shipped}/")
    chosen = page.locator(".ribbons .word.chosen")
    expect(page.locator(".ribbons .word").first).to_be_visible()
    texts = [word(page, "below", index).inner_text() for index in (1, 2)]
    for index, text in zip((1, 2), texts, strict=True):
        word(page, "below", index).click()
        page.mouse.move(5, 5)
        expect(page).to_have_url(re.compile(r"row=\d"))
        settle(page)
        expect(chosen).to_have_text(text)
    address = page.url
    page.go_back()
    expect(chosen).to_have_text(texts[0])
    page.go_back()
    expect(chosen).to_have_count(0)
    assert "row=" not in page.url
    expect(visit(address).locator(".ribbons .word.chosen")).to_have_text(texts[1])
