"""Lessons are data: each step is a view that its page has, in every language; a lesson continues at its last step."""

from __future__ import annotations

import html
import json
import re
import string
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from bartviz.app.frame import page_list, row_names
from bartviz.app.frame.settings import KEYS
from bartviz.app.state import session
from bartviz.features.lessons import heads_found
from bartviz.features.lessons import parts_lesson_state as state
from bartviz.features.lessons.answers import Choice
from bartviz.features.lessons.lesson import ADDRESS, DEFAULTS, HOME, PICTURES, Lesson, Step
from bartviz.features.lessons.parts_course import LESSONS
from bartviz.language import LANGUAGES, speaking
from bartviz.record.record import Record
from bartviz.serving import first_record
from bartviz.serving import saved_records as records
from bartviz.teaching import prose
from tests.features.lessons.conftest import LEFT_OUT
from tests.support import node
from tests.support.pages import App
from tests.support.visits import words
from training.records import RECORDS

STEPS = [(lesson, at) for lesson in LESSONS for at in range(len(lesson.steps))]
NAMES = [f"{lesson.word}-{at + 1}" for lesson, at in STEPS]


def names(message: str) -> set[str]:
    return {name for _text, name, _spec, _conversion in string.Formatter().parse(message) if name}


def test_a_lesson_has_a_word_of_its_own_and_five_to_ten_steps() -> None:
    assert len({lesson.word for lesson in LESSONS}) == len(LESSONS)
    assert all(5 <= len(lesson.steps) <= 10 for lesson in LESSONS)
    assert all(2 <= lesson.minutes <= 15 for lesson in LESSONS)


@pytest.mark.parametrize(("lesson", "at"), STEPS, ids=NAMES)
def test_a_step_has_all_texts_in_every_language(lesson: Lesson, at: int) -> None:
    step = lesson.steps[at]
    record = records.read(step.record)
    known = set(step.facts(record)) if step.facts is not None else set()
    for language in LANGUAGES:
        with speaking(language):
            assert names("".join(prose.paragraphs(HOME, lesson.word, str(at + 1))[:3])) <= known
            told = lesson.texts(at, record)
        assert "?" in told.ask
        for said in (told.see, told.ask, told.answer):
            assert said
            assert "{" not in said
            assert "nan" not in said.split()


@pytest.mark.parametrize(("lesson", "at"), STEPS, ids=NAMES)
def test_a_step_names_a_page_and_positions_of_its_record(lesson: Lesson, at: int) -> None:
    step = lesson.steps[at]
    assert page_list.page(step.page).file.exists()
    record, view = records.read(step.record), step.shown
    if "kind" in view:
        assert view["kind"] in record.kinds
        layers, heads, rows, keys = record.attention(str(view["kind"])).shape
        assert 0 <= int(view.get("layer", 0)) < layers
        assert 0 <= int(view.get("head", 0)) < heads
        assert 0 <= int(view.get("row", 0)) < rows
        assert 0 <= int(view.get("token", 0)) < keys
    for kind in record.kinds:
        assert 0 <= int(view.get(f"row_{kind}", 0)) < record.attention(kind).shape[2]
    if step.page == "decoding":
        assert 1 <= int(view["step"]) <= len(record.steps)


@pytest.mark.parametrize("name", records.NAMES)
def test_the_controls_are_those_that_made_the_record(name: str) -> None:
    model, text, given = RECORDS[name]
    assert records.controls(name) == {
        "model": model,
        "text": text,
        "pair": given.get("pair", ""),
        "target": given.get("target", ""),
        "special": "true" if given.get("allow_special") else "gaps",
    }


@pytest.mark.some(2)
@pytest.mark.slow
@pytest.mark.parametrize("lesson", LESSONS, ids=[lesson.word for lesson in LESSONS])
@pytest.mark.parametrize("at", [1, 4])
def test_a_link_opens_at_its_step(app: App, lesson: Lesson, at: int) -> None:
    step = lesson.steps[at]
    test = app("start", lesson=lesson.word, at=str(at + 1))
    assert_stands(test, lesson, at)
    assert shown(test).source_text == records.read(step.record).source_text


@pytest.mark.some(1)
@pytest.mark.slow
@pytest.mark.parametrize("lesson", LESSONS, ids=[lesson.word for lesson in LESSONS])
def test_a_lesson_is_walked_to_its_end_and_back(app: App, lesson: Lesson) -> None:
    test = app("heads", record=records.read("start"), **OWN)
    menu(test, "lessons")
    before = chosen(test)
    test.button(key=f"begin_{lesson.word}").click().run()
    for at in range(len(lesson.steps)):
        assert_stands(test, lesson, at)
        test.button(key="lesson_next").click().run()
    assert test.title[0].value == page_list.page("lessons").title
    assert walked(test).reached[lesson.word] == len(lesson.steps)
    assert "lesson" not in test.query_params
    assert chosen(test) == before
    menu(test, "heads")
    assert_own(test)


@pytest.mark.some(1)
@pytest.mark.slow
@pytest.mark.parametrize("lesson", LESSONS, ids=[lesson.word for lesson in LESSONS])
def test_a_lesson_leaves_every_setting_as_it_was(app: App, lesson: Lesson) -> None:
    """Text, model, level, decoding settings, and all that the steps of any lesson set, on each page that has them."""
    test = app("heads", record=records.read("start"), **OWN | {"level": "expert", "range": "row", "row": "3"})
    test.selectbox(key="search").set_value("sampling").run()
    test.number_input(key="top_k").set_value(7).run()
    before = settings(test)
    menu(test, "lessons")
    test.button(key=f"begin_{lesson.word}").click().run()
    for step in lesson.steps:
        test.switch_page(f"pages/{step.page}.py").run()  # where the browser is, with its address
        test.button(key="lesson_next").click().run()
    assert test.title[0].value == page_list.page("lessons").title
    menu(test, "heads")
    assert settings(test) == before


def settings(test: AppTest) -> dict[str, object]:
    """What the session holds of all that the sidebar or a step of a lesson sets, special fields of no text aside."""
    assert not test.exception
    steps = {key for lesson in LESSONS for step in lesson.steps for key in step.whole}
    held = {key: test.session_state[key] for key in {*steps, *KEYS, *state.EVERYWHERE} if key in test.session_state}
    return {key: value for key, value in held.items() if value not in (None, "")}


def test_leaving_restores_what_the_visitor_had_chosen(app: App) -> None:
    test = app("heads", record=records.read("start"), **OWN)
    menu(test, "lessons")
    begin(test, "cross")
    for _step in range(3):
        test.button(key="lesson_next").click().run()
    menu(test, "heads")  # where the browser is; AppTest still is on the page that has switched to it
    assert test.button_group(key="reading").value == "reads"
    assert test.slider(key="layer").value == heads_found.back(records.read("start"))[0]
    test.button(key="lesson_leave").click().run()
    assert_own(test)
    assert "lesson" not in test.query_params


def test_what_was_never_chosen_is_the_default_again_after_a_lesson(app: App) -> None:
    fresh = app("heads", record=records.read("start"))
    first = view(fresh)
    test = app("start", record=records.read("start"), lesson="cross", at="4")
    assert view(test) != first
    test.button(key="lesson_leave").click().run()
    assert view(test) == first
    menu(test, "masks")
    menu(test, "heads")
    assert view(test) == first


def test_a_page_that_is_not_that_of_the_step_has_the_choices_of_the_visitor(app: App) -> None:
    test = app("heads", record=records.read("start"), **OWN)
    menu(test, "lessons")
    begin(test, "attention")
    test.button(key="lesson_next").click().run()
    menu(test, "inside")
    assert (test.slider(key="layer").value, test.slider(key="head").value) == (1, 3)
    menu(test, "heads")  # back at the page of the step, which its sentences are about
    assert_stands(test, state.BY_WORD["attention"], 1)
    test.button(key="lesson_leave").click().run()
    assert_own(test)


def test_a_word_that_was_touched_before_a_lesson_gives_no_answer_away(app: App) -> None:
    test = app("start", record=records.read("start"), row="5")
    assert lit(test) is not None
    test.button(key="first_lesson").click().run()
    assert "row" not in test.query_params
    assert lit(test) is None  # its first question is where that word looks


def lit(test: AppTest) -> int | None:
    """The word of the lower line whose ribbons are lit on the start page."""
    (sent,) = [
        json.loads(part.proto.bytes)
        for part in test.get("bidi_component")
        if part.proto.component_name == "bartviz.ribbons"
    ]
    chosen: int | None = sent["chosen"]
    return chosen


@pytest.mark.parametrize("teaching", ["quiz", "pitfalls", "textbook"])
def test_an_example_that_a_page_links_to_leaves_nothing_behind(app: App, teaching: str) -> None:
    test = app("heads", record=records.read("start"), **OWN)
    menu(test, teaching)
    menu(test, "masks", view="additive", row="2", reading="predicts")  # as its links do
    assert "".join(test.query_params["row"]) == "2"
    menu(test, "heads")
    assert_own(test)


def test_a_link_from_another_page_chooses_for_good(app: App) -> None:
    test = app("inside", record=records.read("start"), kind="decoder", layer="1", head="3")
    menu(test, "heads")
    assert (test.slider(key="layer").value, test.slider(key="head").value) == (1, 3)


@pytest.mark.slow
def test_every_question_of_the_quiz_leads_to_an_example_that_leaves_nothing_behind(app: App) -> None:
    questions = pytest.importorskip("bartviz.features.quiz").questions
    record = first_record.record()
    assert record is not None
    asked = [
        one
        for level in ("beginner", "intermediate", "expert")
        for seed in range(2)
        for one in questions(record, seed, level=level)
    ]
    seen = {(one.page, tuple(sorted(one.query))): one for one in asked}
    assert len(seen) >= 6
    test = app("heads", record=records.read("start"), **OWN)
    menu(test, "quiz")
    before = chosen(test)
    for question in seen.values():
        menu(test, question.page, **question.query)
        menu(test, "quiz")
        assert chosen(test) == before
    menu(test, "heads")
    assert_own(test)


@pytest.mark.slow
@pytest.mark.parametrize("lesson", [LESSONS[0], LESSONS[-1]], ids=lambda lesson: lesson.word)
def test_a_lesson_ends_in_one_thing_learned_and_the_next(app: App, lesson: Lesson) -> None:
    page = app("lessons")
    page.button(key=f"begin_{lesson.word}").click().run()
    for _step in lesson.steps:
        page.button(key="lesson_next").click().run()
    assert html.escape(lesson.learned) in words(page)
    if lesson is LESSONS[-1]:
        assert page.button(key="lesson_following").label == f"Next: 1. {LESSONS[0].title}"  # not done yet
        walked(page).reached.update({one.word: len(one.steps) for one in LESSONS})
        walked(page).answered.update({one.word: set(range(len(one.steps))) for one in LESSONS})
        page.run()
        assert "Next: the quiz, about your own text" in [link.proto.label for link in page.get("page_link")]
        return
    assert page.button(key="lesson_following").label == f"Next: 2. {LESSONS[1].title}"
    assert f"of {len(LESSONS)} lessons done." in words(page)
    assert "lessons done. Next" not in words(page)  # the button offers another one
    page.button(key="lesson_following").click().run()
    assert LESSONS[1].title in words(page)
    assert html.escape(lesson.learned) not in words(page)


@pytest.mark.slow
def test_a_lesson_ends_with_what_was_right_at_once_and_what_to_look_at_again(app: App) -> None:
    lesson, at = next((lesson, at) for lesson, at in STEPS if isinstance(lesson.steps[at].answer, Choice))
    options = lesson.texts(at, records.read(lesson.steps[at].record)).options
    test = app(lesson.steps[at].page, lesson=lesson.word, at=str(at + 1))
    for number in sorted(range(len(options)), key=lambda number: options[number].right):  # the right one is the last
        test.button(key=f"lesson_option_{number}").click().run()
    assert walked(test).tries == {lesson.word: {at: False}}
    other = next(one for one in range(len(lesson.steps)) if one != at)
    walked(test).tries[lesson.word][other] = True
    for _step in lesson.steps[at:]:
        test.button(key="lesson_next").click().run()
    assert "Right at the first try: 1 of 2 questions." in words(test)
    assert [button.label for button in test.button if "look_again" in str(button.key)] == [f"Step {at + 1}"]


@pytest.mark.slow
def test_an_answer_that_was_shown_first_is_not_right_at_the_first_try(app: App) -> None:
    test = app("start", lesson=LESSONS[0].word, at="1")
    test.button(key="lesson_answer").click().run()
    walked(test).note_try(right=True)
    assert walked(test).tries == {LESSONS[0].word: {0: False}}


@pytest.mark.slow
def test_the_answer_waits_and_is_hidden_again_on_the_next_step(app: App) -> None:
    lesson = LESSONS[0]
    test = app("start", lesson=lesson.word, at="1")
    answer = lesson.texts(0, records.read("start")).answer[:20]
    assert answer not in strip_text(test)
    test.button(key="lesson_answer").click().run()
    assert answer in strip_text(test)
    test.button(key="lesson_next").click().run()
    test.button(key="lesson_back").click().run()
    assert answer not in strip_text(test)


def test_what_the_visitor_changed_is_set_again_on_request_and_by_the_next_step(app: App) -> None:
    test = app("start", lesson="attention", at="3")
    shown = test.slider(key="layer").value
    assert shown != 0
    test.slider(key="layer").set_value(0).run()
    assert test.slider(key="layer").value == 0
    test.button(key="lesson_again").click().run()
    assert test.slider(key="layer").value == shown
    test.slider(key="layer").set_value(0).run()
    test.button(key="lesson_next").click().run()
    assert test.slider(key="layer").value == heads_found.neighbour(records.read("start"), -1)[0]
    test.button(key="lesson_back").click().run()
    assert_stands(test, state.BY_WORD["attention"], 2)


def test_elsewhere_the_strip_leads_back(app: App) -> None:
    test = app("start", lesson="masks", at="2")
    test.switch_page("pages/compare.py").run()
    assert test.title[0].value == page_list.page("compare").title
    test.button(key="lesson_return").click().run()
    assert_stands(test, state.BY_WORD["masks"], 1)


def test_leaving_restores_the_visitors_record_and_position(app: App) -> None:
    test = app("lessons")
    mine = shown(test)
    begin(test, "heads")
    test.button(key="lesson_next").click().run()
    assert shown(test).model.name == "bert-tiny-en"
    test.button(key="lesson_leave").click().run()
    assert not test.exception
    assert shown(test) is mine
    assert "lesson" not in test.query_params
    test.switch_page("pages/lessons.py").run()
    assert test.button(key="begin_heads").label == f"Continue with step 2 `{state.BY_WORD['heads'].title}`"
    test.button(key="begin_heads").click().run()
    assert_stands(test, state.BY_WORD["heads"], 1)


@pytest.mark.parametrize(("at", "lands"), [("0", 0), ("99", -1), ("x", 0), ("-3", 0), ("", 0)])
def test_a_link_to_a_step_that_is_not_there_opens_the_nearest(app: App, at: str, lands: int) -> None:
    lesson = state.BY_WORD["attention"]
    assert_stands(app("start", lesson="attention", at=at), lesson, lands % len(lesson.steps))


def test_a_link_to_a_lesson_says_which_step_or_lesson_is_not_there(app: App) -> None:
    assert "“lesson=nowhere”, which is not available: “Start”" in words(app(lesson="nowhere"))
    page = app("inside", lesson="arithmetic", at="99")
    last = str(len(state.BY_WORD["arithmetic"].steps))
    assert f"“at=99”, which is not available: “{last}”" in words(page)
    page = page.button(key="lesson_back").click().run()
    assert "which is not available" not in words(page)
    assert "which is not available" not in words(app("inside", lesson="arithmetic", at="2"))


def test_a_link_to_a_lesson_that_is_not_there_is_an_ordinary_page(app: App) -> None:
    test = app("heads", lesson="nothing", at="2")
    assert not test.exception
    assert test.title[0].value == page_list.page("heads").title
    assert all(button.key != "lesson_next" for button in test.button)


def test_large_type_is_one_switch(app: App) -> None:
    test = app("start", lesson="attention", at="1")
    assert not test.toggle(key="large").value
    test.button(key="lesson_large").click().run()
    assert test.toggle(key="large").value
    assert test.query_params["large"] in ("true", ["true"])
    test.button(key="lesson_next").click().run()
    assert test.toggle(key="large").value


def test_every_view_has_defaults_and_a_picture_on_its_page() -> None:
    pages = {step.page for lesson in LESSONS for step in lesson.steps}
    assert pages <= set(DEFAULTS)
    assert pages <= set(PICTURES)
    assert set(ADDRESS) <= set(DEFAULTS)


OWN = {"kind": "decoder", "reading": "reads", "layer": "1", "head": "3", "view": "lines"}  # a visitor's choices


def menu(test: AppTest, word: str, **query: str) -> None:
    """Open a page by the menu, or by a link with these words."""
    test.query_params.clear()
    test.query_params.update(query)
    test.switch_page(f"pages/{word}.py").run()
    assert not test.exception


def begin(test: AppTest, lesson: str) -> None:
    """Press the button of that lesson on the page Lessons."""
    if lesson in LEFT_OUT:
        pytest.skip(f"the lesson {lesson} is left out")
    test.button(key=f"begin_{lesson}").click().run()


def view(test: AppTest) -> dict[str, object]:
    """What the page Heads shows, by its pickers."""
    sliders = {key: test.slider(key=key).value for key in ("layer", "head")}
    groups = {group.key: group.value for group in test.button_group}
    return sliders | {key: groups.get(key, row_names.USUAL) for key in ("kind", "view", "reading", "weights")}


def assert_own(test: AppTest) -> None:
    assert {key: str(value) for key, value in view(test).items()} == {**OWN, "weights": "head"}


def chosen(test: AppTest) -> dict[str, object]:
    """Every choice of the visitor."""
    choices = test.session_state["_address"].choices
    return {key: one.chosen for key, one in choices.items() if one.chosen is not None and key not in state.EVERYWHERE}


def walked(test: AppTest) -> state.LessonState:
    found: state.LessonState = test.session_state["_lesson_state"]
    return found


def shown(test: AppTest) -> Record:
    kept: Record | None = test.session_state[session.RECORD] if session.RECORD in test.session_state else None  # noqa: SIM401
    found = kept or first_record.record()
    assert found is not None
    return found


def strip_text(test: AppTest) -> str:
    return plain("".join(str(block.proto.body) for block in test.get("html")))


def plain(text: str) -> str:
    """HTML without the marks of words that light their places in the picture."""
    return re.sub(r"</?mark[^>]*>", "", text)


def assert_stands(test: AppTest, lesson: Lesson, at: int) -> None:
    """The page of the step, with its view in the widgets that it draws, and the strip over it."""
    step = lesson.steps[at]
    assert not test.exception
    assert test.title[0].value == page_list.page(step.page).title
    assert test.query_params["lesson"] in (lesson.word, [lesson.word])
    assert test.query_params["at"] in (str(at + 1), [str(at + 1)])
    assert f"Step {at + 1} of {len(lesson.steps)}" in strip_text(test)
    drawn = view_of(test, step)
    assert drawn == dict(step.shown)


def view_of(test: AppTest, step: Step) -> dict[str, object]:
    """What the page says to the keys of the step: its widgets, or the address where it reads them from there."""
    spoken = ADDRESS.get(step.page, ())
    widgets = {
        element.key: element.value  # type: ignore[union-attr]
        for name in ("slider", "selectbox", "toggle", "button_group", "number_input", "radio", "text_input")
        for element in test.get(name)
    }
    if step.page == "masks":
        sent = [one.proto for one in test.get("bidi_component") if one.proto.component_name == "bartviz.squares"]
        widgets["row"] = json.loads(sent[0].bytes)["row"]
    found: dict[str, object] = {}
    for key, value in step.shown.items():
        said = test.query_params[key] if key in spoken else widgets.get(key)
        if key == row_names.KEY and said is None:  # the switch is not offered
            said = row_names.USUAL
        found[key] = type(value)(said[0] if isinstance(said, list) else said) if said is not None else None
    return found


@pytest.mark.slow
def test_which_keys_walk() -> None:
    node.run_tests(Path(__file__).with_name("lessons.test.mjs"))


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.word)
def test_a_lesson_that_names_the_numbers_of_the_player_shows_them(lesson: Lesson) -> None:
    told = [" ".join(prose.paragraphs(HOME, lesson.word, str(at + 1))) for at in steps_of(lesson, "decoding")]
    named = any(re.search(r"\bbits\b|\blog p\b|\bentropy\b", text) for text in told)
    assert lesson.numbers >= named


def steps_of(lesson: Lesson, page: str) -> list[int]:
    return [at for at, step in enumerate(lesson.steps) if step.page == page]


@pytest.mark.parametrize(("word", "at", "numbers"), [("attention", 5, False), ("decoding", 2, True)])
def test_a_beginner_sees_numbers_in_the_lesson_that_asks_about_them(
    app: App, word: str, at: int, numbers: bool
) -> None:
    test = app("decoding", level="beginner", lesson=word, at=str(at + 1))
    assert_stands(test, state.BY_WORD[word], at)
    assert ("log p" in words(test)) is numbers


def test_the_buttons_of_the_list_are_told_apart_by_their_names(app: App) -> None:
    test = app("lessons")
    labels = [button.label for button in test.button if str(button.key).startswith("begin_")]
    assert len(labels) == len(set(labels)) == len(LESSONS)
