"""Shared by browser tests of lessons: walk through a lesson, and check what the page of a step shows."""

from __future__ import annotations

import re
import time
from urllib.parse import parse_qsl, urlsplit

from playwright.sync_api import Page, expect

from bartviz.app.frame import page_list
from bartviz.features.lessons.answers import MOST_PAINT, Number, Painted, Touch
from bartviz.features.lessons.lesson import ADDRESS, Lesson, Step
from bartviz.features.lessons.parts_course import LESSONS
from bartviz.language import _, speaking
from bartviz.serving import saved_records as records
from scripts.settled import settle
from tests.browser.conftest import PATIENCE, Open

LETTERS = {"next": "n", "answer": "a", "back": "b"}
WORDS = [lesson.word for lesson in LESSONS]


def named(word: str) -> Lesson:
    return next(lesson for lesson in LESSONS if lesson.word == word)


def begun(visit: Open, address: str) -> Page:
    """A page that listens to the keys of a lesson and of large type; its scripts come after what it shows.

    The address of a lesson leads through the start page to that of its step: what is pressed on the way is nobody's.
    """
    page = visit(address)
    if "lesson=" in address:
        lesson = named(re.findall(r"lesson=(\w+)", address)[0])
        at = int(re.findall(r"at=(\d+)", address)[0])
        with speaking("ko" if "lang=ko" in address else "en"):
            title = _(page_list.page(lesson.steps[at - 1].page).title)
        expect(page.get_by_role("heading", level=1)).to_have_text(title)
        settle(page)
        expect(page.locator("body[data-lesson-keys]")).to_have_count(1)
    expect(page.locator("body[data-large-key]")).to_have_count(1)
    return page


def walk(page: Page, lesson: Lesson, language: str, *, by_keys: bool) -> None:
    """From the first step, at which the page stands, over every answer to the end."""
    with speaking(language):
        for at, step in enumerate(lesson.steps):
            stands(page, lesson, at)
            give_answer(page, lesson, at)
            answer = lesson.texts(at, records.read(step.record)).answer
            expect(page.locator(".bv-answer")).to_contain_text(answer)
            expect(page.locator("#bartviz-lesson-said")).to_contain_text(answer)  # a screen reader reads it
            press(page, "next", by_keys=by_keys)
        expect(page.get_by_role("heading", level=1)).to_have_text(_(page_list.page("lessons").title))
        expect(page.locator(f".st-key-card_{lesson.word}")).to_contain_text(_("done"))
    assert "lesson=" not in page.url
    assert f"lang={language}" in page.url or language == "en"


def give_answer(page: Page, lesson: Lesson, at: int) -> None:
    """The right answer, by the means of the strip: a button, a field, or the list for those who cannot touch."""
    step, options = lesson.steps[at], lesson.texts(at, records.read(lesson.steps[at].record)).options
    if isinstance(step.answer, Touch):
        spots = step.answer.spots(records.read(step.record))
        asked = next(spot for spot in spots if spot.right)
        page.locator(".st-key-lesson_list input").fill(asked.label)  # of a long list only a part is drawn
        page.get_by_role("option", name=asked.label, exact=True).first.click()
    elif isinstance(step.answer, Number):
        value = step.answer.value(records.read(step.record)) * (100 if step.answer.percent else 1)
        page.locator(".st-key-lesson_number input").fill(f"{value:.3g}")
        page.locator(".st-key-lesson_number input").press("Enter")
    elif isinstance(step.answer, Painted):
        line = step.answer.line(records.read(step.record))
        word = page.locator(".painting li").nth(int(line.weights.argmax()))
        for _more in range(MOST_PAINT):
            word.click()
        page.locator(".painting .compare").click()
    else:
        right = next(number for number, option in enumerate(options) if option.right)
        page.locator(f".st-key-lesson_option_{right} button").click()


def press(page: Page, name: str, *, by_keys: bool) -> None:
    if by_keys:
        page.keyboard.press(LETTERS[name])
    else:
        page.locator(f".st-key-lesson_{name} button").click()


def stands(page: Page, lesson: Lesson, at: int) -> None:
    """The strip, the page's title, and the view of the step: in the address, or drawn by its widgets."""
    step = lesson.steps[at]
    said = _("Step {step} of {count}", step=at + 1, count=len(lesson.steps))
    expect(page.locator(".bv-lesson-step")).to_have_text(said)
    expect(page.get_by_role("heading", level=1)).to_have_text(_(page_list.page(step.page).title))
    expect(page.locator(".bv-ask")).to_have_text(lesson.texts(at, records.read(step.record)).ask)
    expect(page).to_have_url(re.compile(rf"lesson={lesson.word}&(.*&)?at={at + 1}(&|$)"))
    if step.page == "decoding":  # its player may ask for another run
        settle(page)
    expect(page.locator("[data-testid='stApp'][data-test-script-state='notRunning']")).to_have_count(1)
    assert page.get_by_test_id("stException").count() == 0, page.get_by_test_id("stException").all_inner_texts()
    shows(page, step)


def shows(page: Page, step: Step) -> None:
    """Every word of the step's view that is not the page's own default stands in the address."""
    until = time.monotonic() + PATIENCE / 1000
    while missing := absent(page, step):
        assert time.monotonic() < until, f"{page.url} lacks {missing}"
        page.wait_for_timeout(100)


def absent(page: Page, step: Step) -> dict[str, object]:
    query = dict(parse_qsl(urlsplit(page.url).query, keep_blank_values=True))
    found: dict[str, object] = {}
    for key, value in step.shown.items():
        said = query.get(key)
        if said is not None and said.lower() != str(value).lower():
            found[key] = value
        if said is None and key in ADDRESS.get(step.page, ()):
            found[key] = value
    return found
