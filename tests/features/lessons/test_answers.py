"""Every question of a lesson has an answer, and every other answer is told why it is not: in words, with a number."""

from __future__ import annotations

import html
import re

import pytest

from bartviz.features.lessons import parts_lesson_state as state
from bartviz.features.lessons import parts_strip, texts
from bartviz.features.lessons.answers import OTHER_HEAD, OTHER_SIDE, Choice, Number, Painted, Touch, strongest
from bartviz.features.lessons.lesson import HOME, Lesson, Reply
from bartviz.features.lessons.parts_course import LESSONS, WRITTEN
from bartviz.features.lessons.texts import CONDITION
from bartviz.language import LANGUAGES, speaking
from bartviz.record.record import Record
from bartviz.serving import saved_records as records
from bartviz.teaching import prose
from tests.features.lessons.test_tour import plain
from tests.support.pages import App
from tests.support.visits import words

ASKING = [
    pytest.param(lesson, at, id=f"{lesson.word}-{at + 1}")
    for lesson in LESSONS
    for at, step in enumerate(lesson.steps)
    if step.answer is not None
]


def replied(lesson: Lesson, at: int, said: float) -> Reply:
    reply = lesson.reply(at, said)
    assert isinstance(reply, Reply)
    assert reply.text
    assert not re.search(r"[{}]|\bnan\b|=>|\? .* \|", reply.text), reply.text
    return reply


@pytest.mark.parametrize(("lesson", "at"), ASKING)
def test_a_right_answer_is_right_and_every_other_is_told_why_it_is_not(lesson: Lesson, at: int) -> None:
    step = lesson.steps[at]
    record = records.read(step.record)
    for language in LANGUAGES:
        with speaking(language):
            told = lesson.texts(at, record)
            if isinstance(step.answer, Choice):
                replies = [replied(lesson, at, number) for number in range(len(told.options))]
                assert 2 <= len(replies) <= 4
                assert sum(reply.right for reply in replies) == 1
                assert len({option.text for option in told.options}) == len(replies)
            elif isinstance(step.answer, Number):
                wanted = step.answer.value(record) * (100 if step.answer.percent else 1)
                replies = [
                    replied(lesson, at, typed) for typed in (wanted, float(f"{wanted:.3g}"), wanted / 3, wanted * 3)
                ]
                assert [reply.right for reply in replies] == [True, True, False, False]
            elif isinstance(step.answer, Painted):
                continue  # test_painted.py
            else:
                assert isinstance(step.answer, Touch)
                spots = step.answer.spots(record)
                assert 0 < sum(spot.right for spot in spots) < len(spots)
                tried = {(spot.case, spot.right): number for number, spot in enumerate(spots)}.values()
                replies = [replied(lesson, at, number) for number in tried]
                assert [reply.right for reply in replies] == [spots[number].right for number in tried]
            for reply in replies:
                assert (told.answer in reply.text) == reply.right


def test_a_condition_chooses_what_is_said() -> None:
    said = "One. [close? Two is {by} behind. | Two is far.] [last? Three.]"
    assert texts.filled(said, {"close": True, "by": 1, "last": False}) == "One. Two is 1 behind."
    assert texts.filled(said, {"close": False, "by": 9, "last": True}) == "One. Two is far. Three."
    with pytest.raises(KeyError):
        texts.filled(said, {"by": 1})
    assert texts.filled("[MASK] and [SEP]", {"by": 1}) == "[MASK] and [SEP]"


def spots_of(line: list[float], labels: str) -> Touch:
    import numpy as np

    return Touch("column", lambda record: strongest(np.array(line), list(labels)))


def test_a_touch_is_found_by_its_number_its_label_or_not_at_all() -> None:
    record: Record = records.read("start")
    touch, view = spots_of([0.2, 0.7, 0.1], "abc"), {"layer": 1, "head": 2}
    found = touch.found(record, {"layer": 1, "head": 2, "row": 0, "column": 1}, view)
    assert not isinstance(found, str)
    assert (found.label, found.right) == ("b", True)
    assert touch.found(record, {"layer": 0, "head": 2, "column": 1}, view) == OTHER_HEAD
    for wrong in ({"row": 1}, {"column": None}, {"column": 3}, {"column": -1}, {"column": "x"}, {"column": True}, {}):
        assert touch.found(record, wrong, view) == OTHER_SIDE


def test_a_quoted_word_of_the_text_lights_its_place_in_the_picture() -> None:
    said = parts_strip._spotted("At “buy”, not at “tea” & “<s>”.", {"buy", "<s>"})
    mark = "<mark class='bv-spot' tabindex='0'>"
    assert said == f"At “{mark}buy</mark>”, not at “tea” &amp; “{mark}&lt;s&gt;</mark>”."


@pytest.mark.slow
def test_a_step_is_done_by_answering_and_skipped_by_going_on(app: App) -> None:
    lesson = state.BY_WORD["attention"]
    test = app("start", lesson=lesson.word, at="1")
    assert test.button(key="lesson_next").label.startswith("Skip")
    told = lesson.texts(0, records.read("start"))
    touch = lesson.steps[0].answer
    assert isinstance(touch, Touch)
    spots = touch.spots(records.read("start"))
    wrong, right = (next(n for n, spot in enumerate(spots) if spot.right is want) for want in (False, True))
    test.selectbox(key="lesson_listed_0").set_value(wrong).run()
    assert html.escape(replied(lesson, 0, wrong).text) in plain(words(test))
    assert told.answer not in plain(words(test))
    assert test.button(key="lesson_next").label.startswith("Skip")
    test.selectbox(key="lesson_listed_0").set_value(right).run()
    assert told.answer in plain(words(test))
    assert test.button(key="lesson_next").label.startswith("Next")
    now = test.session_state["_lesson_state"]
    assert now.is_answered(lesson, 0)
    test.button(key="lesson_next").click().run()
    test.number_input(key="lesson_typed_1").set_value(2.0).run()
    assert "2 is too much" in plain(words(test))
    test.button(key="lesson_next").click().run()  # past the second step, which is skipped
    assert (now.skipped(lesson, 0), now.skipped(lesson, 1), now.skipped(lesson, 2)) == (False, True, False)
    test.button(key="lesson_back").click().run()
    test.number_input(key="lesson_typed_1").set_value(1.0).run()
    assert not now.skipped(lesson, 1)
    assert now.is_answered(lesson, 1)
    assert not test.exception


def test_a_step_whose_answer_was_shown_is_not_skipped(app: App) -> None:
    lesson = state.BY_WORD["attention"]
    test = app("start", lesson=lesson.word, at="1")
    test.button(key="lesson_answer").click().run()
    assert test.button(key="lesson_next").label.startswith("Next")
    test.button(key="lesson_next").click().run()
    test.button(key="lesson_next").click().run()
    now = test.session_state["_lesson_state"]
    assert [now.skipped(lesson, at) for at in range(2)] == [False, True]
    assert not now.is_answered(lesson, 0)


REFUSAL = re.compile(r"(No|아니요|아닙니다)[.,:;!]")  # after "Right." it would sound like one


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_explanation_of_a_right_answer_begins_with_a_no(language: str) -> None:
    with speaking(language):
        for lesson in WRITTEN:
            for at in range(len(lesson.steps)):
                _see, _ask, answer, *extra = prose.paragraphs(HOME, lesson.word, str(at + 1))
                said = [answer, *(text.removeprefix("yes: ") for text in extra if text.startswith("yes: "))]
                for text in said:
                    begins = [CONDITION.sub(branch, text).strip() for branch in (r"\2", r"\3")]  # true, false
                    assert not any(map(REFUSAL.match, begins)), (lesson.word, at + 1, begins)


def test_a_share_may_be_typed_in_percent(record: Record) -> None:
    half = Number(lambda _record: 0.5, share=True)
    assert [half.judged(record, typed).right for typed in (0.5, 50, 5, 100)] == [True, True, False, False]
    assert not Number(lambda _record: 0.5).judged(record, 50).right
    (reply,) = {replied(state.BY_WORD["attention"], 1, typed).text for typed in (1, 100)}
    assert reply.startswith("To 1, which is 100%")


def test_a_choice_that_was_right_can_still_be_read(app: App) -> None:
    """The choices are gone by then, and a class wants to see which sentence it was."""
    steps = [(lesson, at) for lesson in LESSONS for at in range(len(lesson.steps))]
    lesson, at = next((lesson, at) for lesson, at in steps if isinstance(lesson.steps[at].answer, Choice))
    told = lesson.texts(at, records.read(lesson.steps[at].record))
    right = next(number for number, option in enumerate(told.options) if option.right)
    test = app("start", lesson=lesson.word, at=str(at + 1))
    test.button(key=f"lesson_option_{right}").click().run()
    assert not [button for button in test.button if str(button.key).startswith("lesson_option_")]
    assert f"<b>Right. ‘{html.escape(told.options[right].text)}’</b>" in plain(words(test))
