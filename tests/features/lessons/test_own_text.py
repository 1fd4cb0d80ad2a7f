"""A lesson is walked with a visitor's own text: it speaks of that text, and names the steps that it leaves out."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from bartviz.app import streamlit_internals
from bartviz.app.frame import page_list
from bartviz.app.state import session
from bartviz.features.lessons import parts_lesson_state as state
from bartviz.features.lessons.answers import Choice, Number, Painted, Touch
from bartviz.features.lessons.lesson import Lesson, Reply
from bartviz.features.lessons.parts_course import LESSONS
from bartviz.language import LANGUAGES, speaking
from bartviz.record import store
from bartviz.record.record import Record, open_record
from bartviz.serving import engine as engine_module
from bartviz.serving import saved_records as records
from bartviz.serving.engine import Engine
from bartviz.serving.limits import Limits
from bartviz.serving.request import Request
from tests.features.lessons.test_tour import assert_own, menu, strip_text
from tests.support.pages import App
from tests.support.visits import words

pytestmark = pytest.mark.slow
OWN = [lesson for lesson in LESSONS if lesson.takes_own]
TEXTS = (
    "The old woman gave me a warm coat.",
    "My brother lives in a small house by the sea, and he is never alone.",
    "We saw it.",
    "He says that he says that he says it.",
    "Where is the station, please?",
    "My friend from 서울 reads a book.",
    "When the children came home in the evening, the old man had already closed the door.",
)
DAILY = (TEXTS[5],)
# Words of the shipped sentences, whose place those of the visitor's own text take.
SHIPPED = re.compile(r"\b(kaufen|Auto|Ich|ein|Haus|buy|car|BERT)\b")
OF_ALL = {("denoising", 4): ["BERT"]}  # what a step says of any text
ALWAYS = {("pitfalls", 7), ("decoding", 7), ("masks", 7)}  # steps about another record


@pytest.fixture(scope="module")
def read() -> Callable[[str], Record]:
    pytest.importorskip("torch")
    import bartviz

    model = bartviz.load(state.MODEL)
    return cache(lambda text: bartviz.capture(model, text, values=True))


@pytest.mark.parametrize(
    "text", [text if text in DAILY else pytest.param(text, marks=pytest.mark.thorough) for text in TEXTS]
)
@pytest.mark.parametrize("lesson", OWN, ids=lambda lesson: lesson.word)
def test_every_step_is_asked_of_another_text_or_says_why_not(
    lesson: Lesson, text: str, read: Callable[[str], Record]
) -> None:
    record = read(text)
    assert state.is_usable(record)
    asked = 0
    for at, step in enumerate(lesson.steps):
        if reason := step.missing(record):
            assert not reason.endswith(".")  # it ends a sentence of the strip
            continue
        asked += 1
        for language in LANGUAGES:
            with speaking(language):
                told = lesson.texts(at, record)
                for said in (told.see, told.ask, told.answer):
                    assert said
                    assert not re.search(r"[{}\[\]]|\bnan\b", said.replace("[CLS]", ""))
                    own = SHIPPED.findall(f"{text} {record.target_text}") + OF_ALL.get((lesson.word, at + 1), [])
                    assert not set(SHIPPED.findall(said)) - set(own)
                answers_well(lesson, at, record)
        view = step.whole_of(record)
        if "kind" in view and "layer" in view:
            layers, heads, rows, _keys = record.attention(str(view["kind"])).shape
            place = [int(view[name]) for name in ("layer", "head", "row") if name in view]
            assert all(0 <= one < limit for one, limit in zip(place, (layers, heads, rows), strict=False))
    assert asked >= len(lesson.steps) / 2


def answers_well(lesson: Lesson, at: int, record: Record) -> None:
    """The right answer is right, another one is not, and both are told."""
    answer = lesson.steps[at].answer
    if isinstance(answer, Touch):
        spots = answer.spots(record)
        right = [spot.right for spot in spots]
        said = [lesson.reply(at, number, record) for number in (right.index(True), right.index(False))]
    elif isinstance(answer, Number):
        wanted = answer.value(record) * (100 if answer.percent else 1)
        said = [lesson.reply(at, typed, record) for typed in (wanted, 2 * wanted + 1)]
    elif isinstance(answer, Choice):
        right = [option.right for option in lesson.texts(at, record).options]
        said = [lesson.reply(at, number, record) for number in (right.index(True), right.index(False))]
    else:
        assert isinstance(answer, Painted)
        line = answer.line(record)
        order = line.weights.argsort()
        levels = [[int(key == order[place]) for key in range(len(order))] for place in (-1, 0)]
        said = [lesson.reply(at, {"painted": one}, record) for one in levels]
        assert all(isinstance(one, Reply) and one.settles for one in said)
        return
    assert [isinstance(one, Reply) and one.right for one in said] == [True, False]


def test_a_record_that_no_lesson_can_be_walked_with_is_known() -> None:
    assert state.is_usable(records.read("start"))
    assert not state.is_usable(records.read("words"))  # of an encoder alone


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch, read: Callable[[str], Record]) -> list[Request]:
    """The engine gives the records that were made before; what it was asked for."""
    engine, asked = Engine(Limits()), []
    info = SimpleNamespace(fingerprint="one", parameters=0, kind="encoder-decoder")
    monkeypatch.setattr(engine, "load", lambda ticket, name, **_options: SimpleNamespace(info=info))

    def compute(_model: Any, _ticket: Any, request: Request) -> Record:
        asked.append(request)
        return read(request.text)

    monkeypatch.setattr(engine_module, "record", compute)
    monkeypatch.setattr(session, "engine", lambda: engine)
    monkeypatch.setattr(session, "PATIENCE", 10.0)
    monkeypatch.setattr(streamlit_internals, "is_alive", lambda _session: True)
    return asked


def stands(test: AppTest, lesson: Lesson, at: int, text: str) -> None:
    assert not test.exception
    assert test.title[0].value == page_list.page(lesson.steps[at].page).title
    assert {key: "".join(test.query_params[key]) for key in ("lesson", "at", "own")} == {
        "lesson": lesson.word,
        "at": str(at + 1),
        "own": text,
    }
    assert test.session_state[session.RECORD].source_text == text


def test_the_text_is_typed_on_the_card_walked_and_left(app: App, answering: list[Request]) -> None:
    lesson, text = state.BY_WORD["masks"], TEXTS[0]
    test = app(
        "heads", record=records.read("start"), kind="decoder", reading="reads", layer="1", head="3", view="lines"
    )
    menu(test, "lessons")
    test.session_state["own_masks"] = True  # the popover is open
    test.run()
    test.text_area(key="own_masks_text").set_value(text)
    next(button for button in test.button if button.label == "Start with this text").click().run()
    stands(test, lesson, 0, text)
    assert [(one.model, one.text) for one in answering] == [(state.MODEL, text)]
    for at in range(1, 6):
        test.button(key="lesson_next").click().run()
        stands(test, lesson, at, text)
    test.button(key="lesson_next").click().run()
    stands(test, lesson, 7, text)  # the seventh is about BERT
    assert "Step 7 is left out with your text: it is about another text." in strip_text(test)
    test.button(key="lesson_back").click().run()
    stands(test, lesson, 5, text)
    test.button(key="lesson_leave").click().run()
    assert "own" not in test.query_params
    assert test.session_state[session.RECORD] is None or test.session_state[session.RECORD].source_text != text
    menu(test, "heads")
    assert_own(test)


def test_a_link_runs_the_text_and_opens_at_its_step(app: App, answering: list[Request]) -> None:
    lesson, text = state.BY_WORD["attention"], TEXTS[1]
    test = app("start", record=records.read("start"), lesson="attention", at="3", own=text)
    stands(test.run(), lesson, 2, text)
    again = len(answering)
    test.button(key="lesson_next").click().run()
    stands(test, lesson, 3, text)
    assert len(answering) == again  # nothing is run twice


def test_a_text_that_is_too_short_is_refused_with_what_to_do(
    app: App, answering: list[Request], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state, "LEAST_WORDS", 6)
    test = app("start", record=records.read("start"), lesson="attention", at="1", own=TEXTS[2]).run()
    assert "6 words or more" in " ".join(error.value for error in test.error)
    assert "own" not in test.query_params
    assert len(answering) == 1


def test_a_lesson_that_is_saved_is_opened_on_any_page(app: App, read: Callable[[str], Record]) -> None:
    record = read(TEXTS[0])
    data = store.encode(record, {"lesson": "cross"})
    assert store.note(data, "lesson") == "cross"
    assert store.note(store.encode(record), "lesson") == store.note(b"not a record", "lesson") == ""
    assert open_record(data).seal == "unchanged"  # for those who know nothing of lessons it is a record
    test = app("corpus", record=records.read("start"))
    test.file_uploader(key="file").upload("mine.safetensors", data).run()
    stands(test, state.BY_WORD["cross"], 0, TEXTS[0])
    test.button(key="lesson_leave").click().run()
    assert test.session_state[session.RECORD] is None or test.session_state[session.RECORD].source_text != TEXTS[0]


def test_the_note_of_a_lesson_that_is_not_there_opens_the_record(app: App, read: Callable[[str], Record]) -> None:
    data = store.encode(read(TEXTS[0]), {"lesson": "nowhere"})
    test = app("start", record=records.read("start"))
    test.file_uploader(key="file").upload("mine.safetensors", data).run()
    assert "Opened: mine.safetensors" in words(test.run())
