"""A painted guess is judged by the weight that it shares with the head, and each outcome has its sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bartviz.features.lessons import parts_lesson_state as state
from bartviz.features.lessons.answers import MOST_PAINT, UNPAINTED, Line, Painted
from bartviz.features.lessons.lesson import Lesson, Reply
from bartviz.features.lessons.parts_course import LESSONS
from bartviz.language import LANGUAGES, speaking
from bartviz.serving import saved_records as records
from tests.support import node
from tests.support.pages import App

START = records.read("start")
OPEN = np.array([True, True, True, False])
STEPS = [
    pytest.param(lesson, at, id=f"{lesson.word}-{at + 1}")
    for lesson in LESSONS
    for at, step in enumerate(lesson.steps)
    if isinstance(step.answer, Painted)
]


def row(*weights: float) -> Painted:
    return Painted(lambda record: Line(np.array(weights), list("abcd"), OPEN))


@pytest.mark.parametrize(
    ("levels", "case", "shared"),
    [
        ([4, 1, 0, 0], "yes", 0.9),  # 0.8 and 0.2 of 0.8, 0.1, 0.1
        ([1, 1, 1, 0], "even", 1 / 3 + 0.2),
        ([0, 0, 1, 0], "no", 0.1),
        ([2, 0, 0, 2], "closed", 0.5),
    ],
)
def test_shared_weight_is_one_minus_the_total_variation_distance(levels: list[int], case: str, shared: float) -> None:
    painted = row(0.8, 0.1, 0.1, 0.0)
    guess = painted.shares(START, {"painted": levels})
    assert not isinstance(guess, str)
    found = painted.judged(START, guess)
    assert (found.case, found.right) == (case, case == "yes")
    assert found.values["shared"] == pytest.approx(shared)
    distance = np.abs(np.array(guess) - [0.8, 0.1, 0.1, 0.0]).sum() / 2
    assert found.values["shared"] == pytest.approx(1 - distance)


def test_too_much_on_the_right_word_is_not_called_even() -> None:
    painted = row(0.4, 0.3, 0.3, 0.0)
    found = painted.judged(START, (1.0, 0.0, 0.0, 0.0))
    assert (found.case, found.values["best"]) == ("narrow", "a")
    assert found.values["shared"] == pytest.approx(0.4)


@pytest.mark.parametrize(
    "said", [None, {}, {"painted": []}, {"painted": [0, 0, 0, 0]}, {"painted": [1, 0, 0]}, {"painted": [9, 0, 0, 0]}, 3]
)
def test_what_is_no_guess_says_so(said: object) -> None:
    assert row(0.8, 0.1, 0.1, 0.0).shares(START, said) == UNPAINTED


@pytest.mark.parametrize(("lesson", "at"), STEPS)
def test_every_outcome_has_a_sentence_in_every_language(lesson: Lesson, at: int) -> None:
    answer = lesson.steps[at].answer
    assert isinstance(answer, Painted)
    line = answer.line(START)
    assert line.weights.sum() == pytest.approx(1)
    best, count = int(line.weights.argmax()), len(line.weights)
    assert line.weights[best] > 0.5  # a row that can be guessed
    cases = {"yes", "even", "narrow", "no"} | (set() if line.open.all() else {"closed"})
    exact = np.rint(MOST_PAINT * line.weights / line.weights.max()).astype(int).tolist()
    worst = int(np.where(line.open, line.weights, 2).argmin())
    guesses = {"yes": exact, "no": [int(key == worst) for key in range(count)]}
    for language in LANGUAGES:
        with speaking(language):
            told = lesson.texts(at, START)
            assert set(told.replies) == cases
            for case, levels in guesses.items():
                reply = lesson.reply(at, {"painted": levels})
                assert isinstance(reply, Reply)
                assert (reply.right, reply.settles) == (case == "yes", True)
                assert told.answer in reply.text
                assert not any(sign in reply.text for sign in "{}[]")


@pytest.mark.slow
def test_the_picture_is_covered_until_the_guess_and_the_step_is_done_by_it(app: App) -> None:
    lesson = state.BY_WORD["attention"]
    at = len(lesson.steps) - 1
    test = app("start", record=START, lesson="attention", at=str(at + 1))
    cover = "The picture comes after your guess."
    assert cover in html_of(test)
    now = test.session_state["_lesson_state"]
    now.shown = False
    line = lesson.steps[at].answer.line(START)  # type: ignore[union-attr]
    now.said = lesson.reply(at, {"painted": [1] * len(line.weights)})
    assert isinstance(now.said, Reply)
    now.answered.setdefault("attention", set()).add(at)
    now.shown = True
    test.run()
    assert cover not in html_of(test)
    assert "overlap by" in html_of(test)
    assert not test.exception
    test.button(key="lesson_guess_again").click().run()
    assert not test.exception
    assert cover in html_of(test)
    assert "overlap by" not in html_of(test)
    assert now.is_answered(lesson, at)


def html_of(test: object) -> str:
    return "".join(str(block.proto.body) for block in test.get("html"))  # type: ignore[attr-defined]


@pytest.mark.slow
def test_what_paints() -> None:
    node.run_tests(Path(__file__).with_name("painting.test.mjs"))
