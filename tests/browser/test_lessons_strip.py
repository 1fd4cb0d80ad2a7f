"""The strip of a lesson in a browser: links, the browser's Back, keys, large type, a fixed position."""

from __future__ import annotations

import json
import re
import time

import pytest
from playwright.sync_api import Locator, Page, expect

pytest.importorskip("bartviz.features.lessons")

from bartviz.app.controls.large_type import FACTOR
from bartviz.app.state.url_state import BEHIND
from bartviz.features.lessons.texts import StepTexts
from bartviz.serving import saved_records as records
from scripts.settled import settle
from tests.browser.conftest import PATIENCE, Open, forget
from tests.browser.lessons import begun, named, stands


def test_a_shared_link_opens_at_its_step_and_b_leads_back(server: str, visit: Open) -> None:
    lesson = named("pitfalls")
    page = begun(visit, f"{server}/?lesson=pitfalls&at=5")
    stands(page, lesson, 4)
    again = visit(page.url)  # the address as it stands now, in another browser
    stands(again, lesson, 4)
    page.keyboard.press("b")
    stands(page, lesson, 3)
    page.go_back()
    stands(page, lesson, 4)


def test_a_word_of_the_text_lights_its_place_in_a_figure_and_in_a_running_text(shipped: str, visit: Open) -> None:
    page = begun(visit, f"{shipped}/inside?lesson=arithmetic&at=2")
    lit, word = page.locator(".bv-lit"), page.locator(".bv-spot", has_text="buy").first
    expect(page.locator(".js-plotly-plot text", has_text="buy").first).to_be_attached()
    expect(lit).to_have_count(0)
    word.hover()
    expect(lit).to_contain_text(["buy"])  # the key of the row of arithmetic
    page.mouse.move(1, 1)
    expect(lit).to_have_count(0)


def test_after_a_lesson_nothing_sets_the_view_of_its_step_again(server: str, visit: Open) -> None:
    """With every request a browser sends what its widgets held; they have to be told that the lesson is over."""
    lesson = named("attention")
    at, step = next((at, step) for at, step in enumerate(lesson.steps) if step.shown.get("view") == "text")
    page = begun(visit, f"{server}/{step.page}?lesson=attention&at={at + 1}")
    expect(page).to_have_url(re.compile("view=text"))
    page.get_by_role("button", name="Leave the lesson").click()
    expect(page.locator(".bv-lesson-step")).to_have_count(0)
    settle(page)
    page.wait_for_timeout(2000 * BEHIND)  # longer than a slow browser's request is forgiven
    page.get_by_role("button", name="Display").click()
    expect(page.get_by_role("radio", name="Expert")).to_be_visible()
    settle(page)
    expect(page).not_to_have_url(re.compile("view="))


@pytest.mark.thorough
def test_one_back_of_the_browser_is_one_step_also_after_a_reload(server: str, visit: Open) -> None:
    lesson = named("heads")
    page = begun(visit, f"{server}/lessons")
    page.locator(".st-key-begin_heads button").first.click()
    for at in range(3):  # the second step shows another record, the fourth other pickers
        stands(page, lesson, at)
        expect(page.locator("body[data-lesson-keys]")).to_have_count(1)
        page.keyboard.press("n")
    stands(page, lesson, 3)
    page.reload()
    stands(page, lesson, 3)
    for at in (2, 1, 0):
        page.go_back()
        stands(page, lesson, at)
    page.go_forward()
    stands(page, lesson, 1)
    page.go_back()
    page.go_back()
    expect(page.locator(".st-key-card_heads")).to_contain_text("0 of 6 steps answered, 4 skipped")
    expect(page.locator(".st-key-lesson")).to_have_count(0)


@pytest.mark.thorough
def test_how_far_one_is_outlives_a_reload(server: str, visit: Open) -> None:
    page = begun(visit, f"{server}/?lesson=decoding&at=2")
    stands(page, named("decoding"), 1)
    page.goto(f"{server}/lessons")
    expect(page.locator(".st-key-card_decoding")).to_contain_text("0 of 7 steps answered, 2 skipped")
    page.get_by_role("button", name="Continue with step 2").click()
    stands(page, named("decoding"), 1)
    forget(page, server)  # as a browser is before each visit of a test
    page.goto(f"{server}/lessons")
    settle(page)
    expect(page.locator(".st-key-card_decoding")).not_to_contain_text("steps answered")


@pytest.mark.thorough
def test_what_was_moved_is_set_again_and_keys_are_left_alone_while_typing(server: str, visit: Open) -> None:
    lesson = named("attention")
    page = begun(visit, f"{server}/?lesson=attention&at=4")
    stands(page, lesson, 3)
    page.get_by_role("radio", name="Decoder").or_(page.get_by_role("button", name="Decoder")).first.click()
    expect(page).to_have_url(re.compile("kind=decoder"))
    settle(page)
    page.locator(".st-key-lesson_again button").first.click()
    expect(page).to_have_url(re.compile("kind=encoder"))
    stands(page, lesson, 3)
    page.locator(".st-key-lesson_frame button").first.click()  # the menu and the sidebar come back
    page.get_by_test_id("stHeader").wait_for()
    if page.get_by_test_id("stExpandSidebarButton").is_visible():
        page.get_by_test_id("stExpandSidebarButton").click()
    field = page.get_by_label("Text: type your own", exact=True)
    field.click()
    field.press_sequentially("nab")
    settle(page)
    assert "at=4" in page.url
    expect(page.locator(".bv-answer.bv-closed")).to_be_visible()


@pytest.mark.parametrize("size", [(1366, 768), (390, 844)])
def test_nothing_jumps_when_an_answer_is_judged_or_shown(size: tuple[int, int], shipped: str, visit: Open) -> None:
    page = begun(lambda address: visit(address, size=size), f"{shipped}/?lesson=masks&at=4")
    stands(page, named("masks"), 3)
    settle(page)
    picture = page.locator(named("masks").steps[3].part)
    before = top(picture)
    wrong = next(at for at, one in enumerate(texts(3).options) if not one.right)
    option = page.locator(f".st-key-lesson_option_{wrong} button")
    option.dispatch_event("click")  # a click of Playwright's scrolls
    verdict = page.locator(".bv-answer.bv-said-wrong")
    expect(verdict).not_to_have_css("background-color", "rgba(0, 0, 0, 0)")  # as in the quiz
    settle(page)
    assert top(picture) == pytest.approx(before, abs=1)
    page.keyboard.press("a")
    expect(page.locator(".bv-answer")).to_contain_text(texts(3).answer)
    settle(page)
    assert top(picture) == pytest.approx(before, abs=1)


def test_a_painted_guess_is_judged_in_the_height_that_was_kept_for_it(shipped: str, visit: Open) -> None:
    lesson = named("attention")
    page = begun(visit, f"{shipped}/?lesson=attention&at={len(lesson.steps)}")
    stands(page, lesson, len(lesson.steps) - 1)
    strip = page.locator(".st-key-lesson")
    before = strip.bounding_box()
    page.locator(".painting li").first.click()  # as far off as can be: the longest verdict
    page.locator(".painting .compare").click()
    expect(page.locator(".bv-answer")).to_contain_text("overlap by")
    settle(page)
    assert strip.bounding_box() == before


def top(part: Locator) -> float:
    box = part.bounding_box()
    assert box is not None
    return box["y"]


def texts(at: int) -> StepTexts:
    return named("masks").texts(at, records.read(named("masks").steps[at].record))


def test_the_card_of_a_finished_lesson_is_in_sight_and_has_the_focus(shipped: str, visit: Open) -> None:
    lesson = named("attention")
    last = len(lesson.steps)
    seen = json.dumps({"attention": [last, last - 1, 0]})
    page = visit(
        f"{shipped}/lessons",
        before=lambda page: page.add_init_script(f"localStorage.setItem('bartviz.lessons', '{seen}')"),
    )
    page.get_by_role("button", name=f"Continue with step {last}").click()
    stands(page, lesson, last - 1)
    settle(page)
    main = page.get_by_test_id("stMain")
    main.hover()
    page.mouse.wheel(0, 9999)
    expect(main).not_to_have_js_property("scrollTop", 0)
    page.locator(".st-key-lesson_next button").click()
    ended = page.locator(".st-key-lesson_ended")
    expect(ended.get_by_role("heading")).to_be_focused()
    settle(page)
    expect(main).to_have_js_property("scrollTop", 0)
    expect(ended).to_be_in_viewport(ratio=1)


@pytest.mark.thorough
def test_large_type_enlarges_every_page_and_the_clicker_walks(server: str, visit: Open) -> None:
    page = begun(visit, f"{server}/lessons")
    type_is(page, 15)
    page.keyboard.press("z")
    type_is(page, 21)
    expect(page).to_have_url(re.compile("large=true"))
    page.locator(".st-key-begin_attention button").first.click()
    stands(page, named("attention"), 0)
    expect(page.locator("body[data-lesson-keys]")).to_have_count(1)
    page.keyboard.press("PageDown")
    stands(page, named("attention"), 1)
    type_is(page, 21)
    page.keyboard.press("PageUp")
    stands(page, named("attention"), 0)
    page.keyboard.press("z")
    type_is(page, 15)
    expect(page).not_to_have_url(re.compile("large=true"))


@pytest.mark.thorough
def test_a_new_step_is_scrolled_into_view(server: str, visit: Open) -> None:
    page = begun(visit, f"{server}/?lesson=arithmetic&at=1")
    stands(page, named("arithmetic"), 0)
    page.keyboard.press("n")
    stands(page, named("arithmetic"), 1)
    expect(page.locator(".st-key-inside_products")).to_be_in_viewport(ratio=0.5)
    expect(page.locator(".bv-ask")).to_be_in_viewport()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("lesson", "at", "asked"),
    [
        ("masks", 2, ".st-key-squares"),
        ("heads", 6, ".st-key-compare_scatter"),
        ("decoding", 3, ".player .curve"),
        ("parameters", 4, ".st-key-parameters"),
        ("arithmetic", 4, ".st-key-inside_row"),
    ],
)
def test_what_a_step_asks_about_is_in_sight_below_the_strip(
    lesson: str, at: int, asked: str, shipped: str, visit: Open
) -> None:
    page = begun(visit, f"{shipped}/?lesson={lesson}&at={at}")
    stands(page, named(lesson), at - 1)
    expect(page.locator(".bv-ask")).to_be_in_viewport(ratio=1)
    is_whole(page, asked)


@pytest.mark.thorough
def test_large_type_enlarges_the_picture_and_leaves_it_whole(shipped: str, visit: Open) -> None:
    letters = {}
    for large in ("false", "true"):
        page = begun(visit, f"{shipped}/?lesson=attention&at=1&large={large}")
        stands(page, named("attention"), 0)
        is_whole(page, ".ribbons .stage")
        letters[large] = page.locator(".ribbons .below .word").nth(1).bounding_box()
    usual, larger = letters["false"], letters["true"]
    assert usual is not None
    assert larger is not None
    assert larger["height"] > (1 + (FACTOR - 1) * 2 / 3) * usual["height"]
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()


# The letters as they are seen: a style may draw a part of the page smaller.
SEEN = "(part) => parseFloat(getComputedStyle(part).fontSize) * (part.currentCSSZoom ?? 1)"


def test_the_strip_grows_with_large_type_and_most_on_a_large_screen(shipped: str, visit: Open) -> None:
    letters: dict[str, list[float]] = {".bv-ask": [], ".st-key-lesson_next button p": []}
    for large, size in (("false", (1366, 768)), ("true", (1366, 768)), ("true", (1920, 1080))):
        page = begun(
            lambda address, size=size: visit(address, size=size), f"{shipped}/?lesson=attention&at=1&large={large}"
        )
        is_whole(page, ".ribbons .stage")
        step = page.locator(".st-key-lesson_step")
        assert step.evaluate("(step) => step.scrollHeight <= step.clientHeight + 1")
        for part, sizes in letters.items():
            sizes.append(page.locator(part).evaluate(SEEN))
    for usual, small, tall in letters.values():
        assert small > 1.15 * usual
        assert tall > 1.35 * usual


# Watches the canvas: for how long it moves each time, and whether it is the same one as before.
MOVES = """() => {
    const find = () => [...document.querySelectorAll("[data-testid=stBidiComponentIsolated]")]
        .map(({ shadowRoot }) => shadowRoot?.querySelector(".attention")).find(Boolean);
    const canvas = find();
    let since = 0;
    window.moved = [];
    window.stays = () => canvas.isConnected && find() === canvas;
    new MutationObserver(() => {
        const moving = canvas.classList.contains("moving"), now = performance.now();
        if (moving) since ||= now;
        else if (since) window.moved.push(now - since), since = 0;
    }).observe(canvas, { attributes: true, attributeFilter: ["class"] });
}"""


@pytest.mark.thorough
@pytest.mark.parametrize("still", [False, True])
def test_the_canvas_moves_to_the_next_step_unless_nothing_is_to_move(still: bool, shipped: str, visit: Open) -> None:
    page = begun(lambda address: visit(address, still=still), f"{shipped}/?lesson=heads&at=2")
    stands(page, named("heads"), 1)
    page.evaluate(MOVES)
    page.keyboard.press("n")  # to another head of the same layer
    stands(page, named("heads"), 2)
    settle(page)
    assert page.evaluate("window.stays()")
    moved = page.evaluate("window.moved")
    assert len(moved) == (0 if still else 1), moved
    assert all(lasted > 400 * 2 / 3 for lasted in moved)  # a busy machine may take longer


def is_whole(page: Page, selector: str) -> None:
    """The part is between the strip and the lower edge of the window, if perhaps not at once."""
    part, strip, window = page.locator(selector).first, page.locator(".st-key-lesson"), page.viewport_size
    assert window is not None
    until = time.monotonic() + PATIENCE / 1000
    while True:
        box, above = part.bounding_box(), strip.bounding_box()
        assert above is not None
        if (
            box is not None
            and above["y"] + above["height"] <= box["y"]
            and box["y"] + box["height"] <= window["height"]
        ):
            return
        assert time.monotonic() < until, f"{selector}: {box} below {above}"
        page.wait_for_timeout(100)


def type_is(page: Page, pixels: int) -> None:
    """The size of the type by which all others are measured."""
    expect(page.locator("html")).to_have_css("font-size", f"{pixels}px")
