"""The quiz in a browser: a round answered correctly, by mouse and by keys; links to the answers."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

pytest.importorskip("bartviz.features.quiz")
from bartviz.features.quiz import questions
from bartviz.features.quiz.question import Question
from bartviz.language import _
from bartviz.record.record import open_record
from bartviz.serving import first_record
from scripts.settled import settle
from tests.browser.conftest import Open, go
from tests.support import stand_in

ROUND = 12


def asked(seed: int, count: int) -> tuple[Question, ...]:
    """The questions that the server must ask: it begins with the same record."""
    return questions(stand_in.record(), seed, count)


def option(page: Page, seed: int, place: int, question: Question) -> None:
    """Give the right answer with the mouse: touch its place in the picture, or press its button."""
    if question.touch is None:
        page.locator(f".st-key-quiz_{seed}_{place}_{question.answer} button").click()
    else:
        page.locator(f"button[data-place='{right_place(question)}']").click()


def right_place(question: Question) -> str:
    assert question.touch is not None
    at = str(question.touch.places[question.answer])
    return f"{question.touch.row} {at}" if question.touch.what == "cell" else at


def by_keys(page: Page, seed: int, place: int, question: Question) -> None:
    """Give the right answer with keys: its number, or arrows to its place."""
    if question.touch is None:
        page.locator(f".st-key-quiz_{seed}_{place}_0 button").wait_for()
        page.keyboard.press(str(question.answer + 1))
        return
    first = page.locator(".st-key-quiz_picture button[tabindex='0']")
    begins = [int(one) for one in str(first.get_attribute("data-place")).split()]
    first.focus()
    for key, steps in zip(
        ("ArrowRight", "ArrowDown"),
        [int(to) - at for to, at in zip(right_place(question).split(), begins, strict=True)][::-1],
        strict=False,
    ):
        for _step in range(steps):
            page.keyboard.press(key)
    page.keyboard.press("Enter")


@pytest.mark.thorough
def test_all_questions_of_a_round_answered_right_make_a_full_score(visit: Open, server: str) -> None:
    page = visit(f"{server}/quiz?quiz_seed=5&quiz_count={ROUND}")
    found = asked(5, ROUND)
    for place, question in enumerate(found):
        expect(page.locator(".bv-question")).to_have_text(" ".join(_(question.prompt).split()))
        if place % 2:
            option(page, 5, place, question)
        else:
            by_keys(page, 5, place, question)
        expect(page.locator(".bv-verdict")).to_contain_text("Right.")
        settle(page)
        page.locator(".st-key-quiz_next button").click()
    expect(page.locator(".bv-question")).to_have_text(f"{ROUND} of {ROUND} on the first try")


@pytest.mark.thorough
def test_the_link_shows_the_answer_and_the_quiz_goes_on_afterwards(visit: Open, server: str) -> None:
    found = asked(5, ROUND)
    place = next(at for at, question in enumerate(found) if question.page == "heads" and question.kind == "look")
    question = found[place]
    page = visit(f"{server}/quiz?quiz_seed=5&quiz_count={ROUND}")
    for number in range(2, place + 2):
        page.locator(".st-key-quiz_next button").click()
        expect(page.locator(".bv-score")).to_contain_text(f"Question {number} of {ROUND}")
    settle(page)
    option(page, 5, place, question)
    page.get_by_role("link", name="See it").click()
    expect(page).to_have_url(re.compile("/heads"))
    name = f"Head {question.query['head']} of layer {question.query['layer']}"
    expect(page.locator(".bv-lead").first).to_contain_text(name)
    settle(page)
    page.go_back()
    expect(page.locator(".bv-score")).to_contain_text("1 of 1 correct")


@pytest.mark.thorough
def test_the_quiz_waits_while_other_pages_are_looked_at(visit: Open, server: str) -> None:
    page = visit(f"{server}/quiz?quiz_seed=5&quiz_count=4")
    question = asked(5, 4)[0]
    option(page, 5, 0, question)
    expect(page.locator(".bv-score")).to_contain_text("1 of 1 correct")
    go(page, "Hidden words (masks)")
    expect(page).to_have_url(re.compile("/masks"))
    settle(page)
    go(page, "Quiz")
    expect(page.locator(".bv-score")).to_contain_text(re.compile("Question 1 of 4 · .*1 of 1 correct"))
    expect(page.locator(".bv-question")).to_have_text(" ".join(_(question.prompt).split()))


@pytest.mark.parametrize(("size", "least"), [((1366, 768), 33), ((390, 844), 24)])
def test_the_map_of_a_question_fills_its_place(visit: Open, shipped: str, size: tuple[int, int], least: float) -> None:
    """Cells are large enough for a class, or for a finger, and the whole map is on the screen."""
    page = visit(f"{shipped}/quiz?quiz_question=3", size=size)
    grid = page.locator(".bv-grid.bv-large")
    box, cell = grid.bounding_box(), grid.locator("td").first.bounding_box()
    assert box is not None
    assert cell is not None
    assert min(cell["width"], cell["height"]) >= least
    assert box["x"] + box["width"] <= size[0]
    assert box["y"] + box["height"] <= size[1]


def test_all_numbers_of_a_row_are_on_a_phones_screen(visit: Open, shipped: str) -> None:
    """With the one that is asked for, each below its token; column words end above the cells of a map."""
    asked = [one.kind for one in questions(open_record(first_record.FILE), 7)]
    page = visit(f"{shipped}/quiz?quiz_question={asked.index('missing') + 1}", size=(390, 844))
    cells = page.locator(".bv-digits td")
    expect(cells.filter(has_text="?")).to_be_in_viewport(ratio=1)
    boxes = [cell.bounding_box() for cell in cells.all()]
    assert all(box is not None and box["x"] >= 0 and box["x"] + box["width"] <= 390 for box in boxes)
    page = visit(f"{shipped}/quiz?quiz_question={asked.index('whose') + 1}", size=(390, 844))
    words, edges = page.locator(".bv-large").evaluate(
        """(table) => [
          [...table.querySelectorAll("th[scope=col]")].map((word) => {
            const text = document.createRange();
            text.selectNodeContents(word);
            return text.getBoundingClientRect().bottom;
          }),
          [...table.querySelectorAll("tr:nth-child(2) td")].map((cell) => cell.getBoundingClientRect().top),
        ]"""
    )
    assert len(words) == len(edges) > 0
    assert all(word < edge for word, edge in zip(words, edges, strict=True))


def test_a_touch_is_judged_verdict_first_and_the_next_question_has_the_focus(visit: Open, shipped: str) -> None:
    page = visit(f"{shipped}/quiz", size=(390, 844))
    first, second = questions(open_record(first_record.FILE), 7)[:2]
    wrong = 0 if first.answer else 1
    page.locator(f"button[data-place='{wrong}']").tap()
    expect(page.locator(".bv-verdict")).to_have_text(f"Not quite: {_(first.options[wrong].says)} Try another one.")
    page.locator(f"button[data-place='{first.answer}']").tap()
    expect(page.locator(".bv-verdict")).to_have_text(f"Right. {_(first.why)}")
    page.locator(".st-key-quiz_next button").tap()
    expect(page.locator(".bv-question")).to_have_text(_(second.prompt))
    expect(page.locator(".bv-question")).to_be_focused()
    expect(page.locator(".bv-question")).to_be_in_viewport(ratio=1)
