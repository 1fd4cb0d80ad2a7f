"""Every lesson is walked to its end in both languages, one of them by keyboard; a shared link opens at its step."""

from __future__ import annotations

import re
import time

import pytest
from playwright.sync_api import Page, expect

from bartviz.language import _, speaking
from bartviz.ui import registry
from bartviz.ui.lessons import records
from bartviz.ui.lessons.course import LESSONS
from bartviz.ui.lessons.lesson import ADDRESS, Lesson, Step
from tests.browser.conftest import Open, settle

WALKS = [(lesson, language) for lesson in LESSONS for language in ("en", "ko")]
SETTLED = 60.0  # seconds in which a page must say what its step wants; the machine may be busy


@pytest.mark.parametrize(("lesson", "language"), WALKS, ids=[f"{lesson.word}-{language}" for lesson, language in WALKS])
def test_a_lesson_is_walked_to_its_end(server: str, visit: Open, lesson: Lesson, language: str) -> None:
    by_keys = language == "ko"
    page = visit(f"{server}/?lesson={lesson.word}&at=1&lang={language}")
    with speaking(language):
        for at, step in enumerate(lesson.steps):
            stands(page, lesson, at)
            press(page, "answer", by_keys)
            answer = step.say(step.answer, records.read(step.record))
            expect(page.locator(".bv-answer")).to_contain_text(answer)
            press(page, "next", by_keys)
        expect(page.get_by_role("heading", level=1)).to_have_text(_(registry.page("lessons").title))
        expect(page.locator(f".st-key-card_{lesson.word}")).to_contain_text(_("walked to the end"))
        assert "lesson=" not in page.url
        assert f"lang={language}" in page.url or language == "en"


def test_a_shared_link_opens_at_its_step_and_b_leads_back(server: str, visit: Open) -> None:
    lesson = next(lesson for lesson in LESSONS if lesson.word == "fooled")
    page = visit(f"{server}/?lesson=fooled&at=5")
    stands(page, lesson, 4)
    again = visit(page.url)  # the address as it stands now, in another browser
    stands(again, lesson, 4)
    page.keyboard.press("b")
    stands(page, lesson, 3)
    for _press in range(8):  # a step may have several addresses: without its view, and with more and more of it
        if "at=5" in page.url:
            break
        page.go_back()
        settle(page)
    stands(page, lesson, 4)


def test_what_was_moved_is_set_again_and_keys_are_left_alone_while_typing(server: str, visit: Open) -> None:
    lesson = LESSONS[0]
    page = visit(f"{server}/?lesson=attention&at=4")
    stands(page, lesson, 3)
    page.get_by_role("radio", name="Decoder").or_(page.get_by_role("button", name="Decoder")).first.click()
    settle(page)
    assert "kind=decoder" in page.url
    page.locator(".st-key-lesson_again button").first.click()
    settle(page)
    stands(page, lesson, 3)
    field = page.get_by_label("Text", exact=True)
    field.click()
    field.press_sequentially("nab")
    settle(page)
    assert "at=4" in page.url
    expect(page.locator(".bv-answer.bv-closed")).to_be_visible()


def test_nothing_jumps_when_the_answer_is_shown(server: str, visit: Open) -> None:
    page = visit(f"{server}/?lesson=masks&at=4")
    title = page.get_by_role("heading", level=1)
    before = title.bounding_box()
    page.keyboard.press("a")
    expect(page.locator(".bv-answer")).not_to_have_class(re.compile("bv-closed"))
    settle(page)
    assert title.bounding_box() == before


def test_large_type_enlarges_every_page_and_the_clicker_walks(server: str, visit: Open) -> None:
    page = visit(f"{server}/lessons")
    size = font(page)
    page.keyboard.press("z")
    expect(page.locator(".bv-large")).to_have_count(1)
    settle(page)
    assert font(page) > 1.3 * size
    assert "large=true" in page.url
    page.locator(".st-key-begin_attention button").first.click()
    stands(page, LESSONS[0], 0)
    page.keyboard.press("PageDown")
    stands(page, LESSONS[0], 1)
    assert font(page) > 1.3 * size
    page.keyboard.press("PageUp")
    stands(page, LESSONS[0], 0)
    page.keyboard.press("z")
    expect(page.locator(".bv-large")).to_have_count(0)
    settle(page)
    assert font(page) == size


def test_a_new_step_is_brought_into_sight(server: str, visit: Open) -> None:
    page = visit(f"{server}/?lesson=arithmetic&at=1")
    page.keyboard.press("n")
    stands(page, next(lesson for lesson in LESSONS if lesson.word == "arithmetic"), 1)
    expect(page.locator(".st-key-inside_products")).to_be_in_viewport(ratio=0.5)
    expect(page.locator(".bv-ask")).to_be_in_viewport()


def press(page: Page, name: str, by_keys: bool) -> None:
    if by_keys:
        page.keyboard.press({"next": "n", "answer": "a", "back": "b"}[name])
    else:
        page.locator(f".st-key-lesson_{name} button").click()


def stands(page: Page, lesson: Lesson, at: int) -> None:
    """The strip, the page's title, and the view of the step: in the address, or drawn by its widgets."""
    step = lesson.steps[at]
    said = _("Step {step} of {count}", step=at + 1, count=len(lesson.steps))
    expect(page.locator(".bv-lesson-step")).to_have_text(said)
    expect(page.get_by_role("heading", level=1)).to_have_text(_(registry.page(step.page).title))
    expect(page.locator(".bv-ask")).to_have_text(step.say(step.ask, records.read(step.record)))
    expect(page).to_have_url(re.compile(rf"lesson={lesson.word}&(.*&)?at={at + 1}(&|$)"))
    settle(page)
    shows(page, step)


def shows(page: Page, step: Step) -> None:
    """Every word of the step's view that is not the page's own default stands in the address."""
    until = time.monotonic() + SETTLED
    while missing := absent(page, step):
        assert time.monotonic() < until, f"{page.url} lacks {missing}"
        page.wait_for_timeout(100)


def absent(page: Page, step: Step) -> dict[str, object]:
    query = dict(re.findall(r"[?&]([^=&]+)=([^&]*)", page.url))
    found: dict[str, object] = {}
    for key, value in step.view.items():
        said = query.get(key)
        if said is not None and said.replace("%2F", "/").lower() != str(value).lower():
            found[key] = value
        if said is None and key in ADDRESS.get(step.page, ()):
            found[key] = value
    return found


def font(page: Page) -> float:
    return float(page.evaluate("parseFloat(getComputedStyle(document.querySelector('h1')).fontSize)"))
