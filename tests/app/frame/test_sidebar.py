"""From the sidebar to a record: requests, refusals, links and files."""

from __future__ import annotations

import io
import json
import re
import threading
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

import bartviz
from bartviz.app import streamlit_internals
from bartviz.app.frame import page_list, settings, sidebar, uploads
from bartviz.app.state import session
from bartviz.corpus import one_file, replay, shipped
from bartviz.errors import Cancelled, ModelError, TextError
from bartviz.families.catalogue import CATALOGUE
from bartviz.families.family import ModelKind
from bartviz.record.record import Record
from bartviz.record.vocabulary import GIVEN_TARGET
from bartviz.serving import engine as engine_module
from bartviz.serving import request as requests
from bartviz.serving.cache import ByteCache
from bartviz.serving.engine import Engine
from bartviz.serving.limits import Limits
from bartviz.serving.request import Request
from bartviz.serving.search import SEED, Search
from bartviz.text.clean import clean
from bartviz.text.tokenize import check_length
from tests.support import stand_in
from tests.support.pages import App
from tests.support.visits import words


class Forgets(ByteCache[Any]):
    """Each question is asked anew, also one whose answer a session still holds."""

    def _find(self, key: str) -> None:
        return None


class Answers(Engine):
    """An engine without models: it notes what it is asked and answers with ``answer``."""

    def __init__(self) -> None:
        super().__init__(Limits())
        self.results = Forgets(0)
        self.asked: list[Request] = []
        self.answer: Callable[[Any, Request], Record] = lambda ticket, request: stand_in.record(kind="encoder")

    def load(self, ticket: Any, name: str, **_options: Any) -> Any:
        return SimpleNamespace(info=SimpleNamespace(fingerprint=name, parameters=0, kind="encoder"))

    def compute(self, model: Any, ticket: Any, request: Request) -> Record:
        self.asked.append(request)
        return self.answer(ticket, request)


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Answers:
    engine = Answers()
    monkeypatch.setattr(session, "engine", lambda: engine)
    monkeypatch.setattr(engine_module, "record", engine.compute)
    monkeypatch.setattr(session, "PATIENCE", 10.0)
    monkeypatch.setattr(streamlit_internals, "is_alive", lambda _session: True)
    return engine


def press(page: AppTest, label: str) -> AppTest:
    """Press a button of the sidebar, or of the page where the sidebar has none of that label."""
    buttons = [*page.sidebar.button, *page.main.button]
    found = next(button for button in buttons if button.label == label)
    after: AppTest = found.click().run()
    return after


def settled(page: AppTest) -> AppTest:
    """The page, when the run that a link has started is over."""
    if session.RUN in page.session_state and page.session_state[session.RUN] is not None:
        assert page.session_state[session.RUN].wait(30)
    return page


@pytest.mark.slow
def test_a_given_output_waits_for_the_kind_of_model_that_it_was_given_to(app: App, answers: Answers) -> None:
    """A German translation is no continuation of an English text: GPT-2 begins with none."""
    page = app()
    page.text_input(key="target").input("Hallo.")
    page = press(page, "Run")
    page = page.selectbox(key="model").set_value("gpt2").run()
    assert page.text_input(key="target").value == ""
    assert "other kind of model are kept" in words(page)
    page.text_input(key="target").input("and on")
    page = press(page, "Run")
    for model in ("bert-base-uncased", "t5-small", "facebook/bart-base"):
        page = page.selectbox(key="model").set_value(model).run()
    assert page.text_input(key="target").value == "Hallo."
    assert "other kind of model are kept" not in words(page)
    page = press(page.selectbox(key="model").set_value("gpt2").run(), "Run")
    assert [request.target for request in answers.asked] == ["Hallo.", "and on", "and on"]


def test_labels_are_spoken_without_signs_of_markdown(app: App) -> None:
    page = app("heads")
    assert page.toggle(key="large").label == "Large type"
    assert not [toggle.label for toggle in page.toggle if set("`*_") & set(toggle.label)]


def test_a_browser_that_reconnects_to_a_new_server_restores_its_text(app: App, answers: Answers) -> None:
    """The visit is new, since its earlier one was closed; the browser still has what was typed."""
    page = app()
    page.text_area(key="text").input("Hello there.")
    page = settled(press(page, "Run")).run()
    for key in ("_source", "_link", "_linked", session.RECORD, session.ASKED):
        del page.session_state[key]
    page = settled(page.run()).run()
    assert [request.text for request in answers.asked] == ["Hello there."] * 2
    assert page.session_state[session.RECORD] is not None


def test_nothing_runs_before_it_is_requested(app: App, answers: Answers) -> None:
    page = app()
    assert page.text_area(key="text").value == "I want to buy a car."
    assert answers.asked == []


def test_run_requests_the_sidebars_values_and_shows_the_result(app: App, answers: Answers) -> None:
    page = app()
    page.selectbox(key="model").set_value("facebook/bart-base").run()
    page.text_area(key="text").input("Hello there.")
    page.text_input(key="target").input("Hallo.")
    page.number_input(key="max_new_tokens").set_value(7)
    page.number_input(key="top_k").set_value(4)
    page.selectbox(key="too_long").set_value("last")
    page.selectbox(key="special").set_value("true")
    page = press(page, "Run")
    assert not page.exception
    assert answers.asked == [
        Request("facebook/bart-base", "Hello there.", None, "Hallo.", 7, 4, "last", True, lower=True)
    ]
    assert "<p>9 tokens · " in words(page)  # the encoder's record that came, not the one from before


@pytest.mark.slow
def test_the_fields_follow_the_kind_of_the_model(app: App, answers: Answers) -> None:
    page = app()
    page.selectbox(key="model").set_value("bert-base-uncased").run()
    assert [field.label for field in page.sidebar.text_input] == ["Second sentence"]
    assert [field.label for field in page.sidebar.number_input] == []
    page.text_input(key="pair").input("Another one.")
    press(page, "Run")
    assert (answers.asked[0].pair, answers.asked[0].target) == ("Another one.", None)
    page.selectbox(key="model").set_value("gpt2").run()
    assert [field.label for field in page.sidebar.text_input] == ["Given output"]
    press(page, "Run")
    assert (answers.asked[1].pair, answers.asked[1].target) == (None, None)
    page.text_input(key="target").input("and on")
    press(page, "Run")
    assert (answers.asked[2].text, answers.asked[2].target) == (answers.asked[1].text, "and on")


@pytest.mark.parametrize(
    ("model", "text", "as_gaps"),
    [
        ("bert-base-uncased", "My uncle lives on an [MASK].", True),
        ("bert-base-uncased", "An [MASK].[SEP]", False),
        ("bert-base-uncased", "No gap here.", False),
        ("facebook/bart-base", "My uncle lives on an <mask>.", False),
    ],
)
def test_a_model_that_fills_gaps_reads_a_typed_gap_as_one(
    app: App, answers: Answers, model: str, text: str, as_gaps: bool
) -> None:
    page = app()
    page.selectbox(key="model").set_value(model).run()
    page.text_area(key="text").input(text)
    press(page, "Run")
    assert (answers.asked[0].text, answers.asked[0].allow_special) == (text, as_gaps)


@pytest.mark.parametrize(
    ("special", "text", "read"),
    [("false", "An [MASK].", False), ("true", "An [MASK].[SEP]", True), ("", "[MASK]", True)],
)
def test_a_link_says_how_special_tokens_are_read(
    app: App, answers: Answers, special: str, text: str, read: bool
) -> None:
    settled(app("start", model="bert-base-uncased", text=text, **({"special": special} if special else {})))
    assert [request.allow_special for request in answers.asked] == [read]


def test_an_example_is_one_click(app: App, answers: Answers) -> None:
    page = app()
    page.selectbox(key="model").set_value("bert-base-uncased").run()
    page = page.button(key="example_2").click().run()
    assert (answers.asked[0].text, answers.asked[0].allow_special) == ("Paris is the [MASK] of France.", True)
    assert page.text_area(key="text").value == "Paris is the [MASK] of France."


def test_an_example_of_two_sentences_names_both(app: App, answers: Answers) -> None:
    page = app()
    page.selectbox(key="model").set_value("bert-tiny-en").run()
    label = page.button(key="example_2").label.replace("\\", "")  # what Markdown would read is escaped
    assert label == "My uncle lives on an island. The [MASK] is very small."
    page.button(key="example_2").click().run()
    assert (answers.asked[-1].pair, answers.asked[-1].allow_special) == ("The [MASK] is very small.", True)


def test_a_model_that_ships_runs_when_it_is_chosen_and_another_waits_for_run(app: App, answers: Answers) -> None:
    page = app()
    page.selectbox(key="model").set_value("bert-base-uncased").run()
    assert not answers.asked
    page.selectbox(key="model").set_value("bert-tiny-en").run()
    assert [request.model for request in answers.asked] == ["bert-tiny-en"]


def test_a_refusal_has_one_sentence_and_one_button(app: App, answers: Answers) -> None:
    def refuse(ticket: Any, request: Request) -> Record:
        raise TextError("The text is *empty*.")

    answers.answer = refuse
    page = press(app("decoding"), "Run")
    assert [error.value for error in page.error] == [r"The text is \*empty\*\."]
    page = press(page, "Back to the last result")
    assert [error.value for error in page.error] == []
    assert "<p>9 tokens in" in words(page)


@pytest.mark.parametrize("level", ["beginner", "intermediate"])
def test_the_first_page_draws_no_picture_of_the_text_before_a_refused_one(
    app: App, answers: Answers, level: str
) -> None:
    def refuse(ticket: Any, request: Request) -> Record:
        raise TextError("The text is too long.")

    def drawn() -> list[str]:
        return [part.proto.component_name for part in page.get("bidi_component")]

    page = app(level=level)
    assert "bartviz.ribbons" in drawn()
    answers.answer = refuse
    page = press(page, "Run")
    assert len(page.error) == 1
    assert "bartviz.ribbons" not in drawn()
    page = press(page, "Back to the last result")
    assert "bartviz.ribbons" in drawn()


def test_a_refused_text_has_no_notices_of_the_text_before(app: App, answers: Answers) -> None:
    def refuse(ticket: Any, request: Request) -> Record:
        raise TextError("The text has 369 tokens.")

    record = stand_in.record()
    about = "The text has 2 lines."
    noticed = replace(record, provenance=replace(record.provenance, notices=(about,)))
    answers.answer = refuse
    page = app(record=noticed)
    assert about in words(page)
    page = press(page, "Run")
    assert [error.value for error in page.error] == [r"The text has 369 tokens\."]
    assert about not in words(page)


def test_an_output_that_was_given_for_the_text_before_is_said_to_be_older(app: App, answers: Answers) -> None:
    def given(ticket: Any, request: Request) -> Record:
        record = stand_in.record()
        return replace(record, provenance=replace(record.provenance, settings={"mode": GIVEN_TARGET}))

    older = "The given output belongs to the previous text."
    answers.answer = given
    page = app()
    page.text_input(key="target").input("Ich möchte ein Auto.")
    page = press(page, "Run")
    assert older not in words(page)
    page.text_area(key="text").input("The cat is sleeping.")
    page = press(page, "Run")
    assert answers.asked[-1].target == "Ich möchte ein Auto."
    assert older in words(page)
    page.text_input(key="target").input("Die Katze schläft.")
    page = press(page, "Run")
    assert older not in words(page)


@pytest.mark.parametrize("given", ["Tom redet schnell.", "Tom spricht schnell."])
def test_the_output_of_a_text_of_a_page_is_not_given_for_an_own_text(app: App, answers: Answers, given: str) -> None:
    page = app()
    page.text_area(key="text").input("Tom talks fast.")
    page.text_input(key="target").input("Tom redet schnell.")
    page = press(page, "Run")
    asked = page.session_state[session.ASKED]
    assert (asked.text, asked.target) == ("Tom talks fast.", "Tom redet schnell.")
    page.session_state[sidebar._OPENED] = sidebar.Opened(asked, None, {}, page="corpus")  # as a page does
    page.text_area(key="text").input("I want to buy a car.")
    page.text_input(key="target").input(given)
    page = press(page, "Run")
    kept = given if given == "Tom spricht schnell." else None  # what the visitor typed is theirs
    assert (answers.asked[-1].text, answers.asked[-1].target) == ("I want to buy a car.", kept)


def test_a_missing_text_is_replaced_with_an_example_without_messages_of_the_last_run(
    app: App, answers: Answers
) -> None:
    def refuse(ticket: Any, request: Request) -> Record:
        clean(request.text)
        return stand_in.record()

    answers.answer = refuse
    page = app("decoding")
    page.text_area(key="text").input("  ")
    page = press(page, "Run")
    first = page.main.button[1]  # the one before is hidden: it ends large type
    assert first.label == r"I want to buy a car\."
    page = first.click().run()
    assert not page.error
    assert page.text_area(key="text").value == answers.asked[-1].text == "I want to buy a car."


def test_a_missing_model_is_replaced_with_an_available_one(app: App, answers: Answers) -> None:
    def refuse(ticket: Any, request: Request) -> Record:
        if request.model == "gpt2":
            raise ModelError("There is no such model.")
        return stand_in.record()

    answers.answer = refuse
    page = app("heads")
    page.selectbox(key="model").set_value("gpt2").run()
    page = press(press(page, "Run"), "Use bart-tiny-en-de")
    assert not page.error
    assert page.selectbox(key="model").value == answers.asked[-1].model == "bart-tiny-en-de"


def test_a_text_that_is_too_long_is_read_in_part_when_asked(app: App, answers: Answers) -> None:
    def refuse(ticket: Any, request: Request) -> Record:
        if request.truncate is None:
            check_length(1340, 512)
        return stand_in.record()

    answers.answer = refuse
    page = press(app(), "Run")
    assert "1,340 tokens" in page.error[0].value.replace("\\", "")
    page = press(page, "Read only its last 512 tokens")
    assert not page.error
    assert [request.truncate for request in answers.asked] == [None, "last"]


@pytest.mark.slow
def test_a_text_in_capitals_is_read_in_lower_case_until_it_is_asked_for_as_typed(app: App, answers: Answers) -> None:
    model, typed = bartviz.load("bart-tiny-en-de"), "CAN WE GO HOME NOW?"
    answers.answer = lambda ticket, request: requests.record(model, ticket, request)
    page = app()
    page.text_area(key="text").input(typed)
    page = press(page, "Run")
    assert page.session_state[session.RECORD].source_text == "Can we go home now?"
    assert [button.label for button in page.button].count("Read it in lower case") == 0
    page = press(page, "Read it as typed")
    assert page.session_state[session.RECORD].source_text == typed
    page = press(page, "Read it in lower case")
    assert page.session_state[session.RECORD].source_text == "Can we go home now?"
    assert [request.text for request in answers.asked] == [typed] * 3
    assert page.text_area(key="text").value == typed


def test_the_empty_state_offers_an_example(app: App, answers: Answers) -> None:
    page = app("decoding", record=None)
    page = press(page, page.main.button[1].label)  # the one before is hidden: it ends large type
    assert not page.exception
    assert len(answers.asked) == 1


@pytest.mark.slow
def test_a_long_run_reports_progress_and_can_be_stopped(
    app: App, answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "PATIENCE", 0.0)
    begun = threading.Event()

    def slow(ticket: Any, request: Request) -> Record:
        ticket.report("Writing: token 3 of at most 9", 1 / 3)
        begun.set()
        while not ticket.cancelled():
            threading.Event().wait(0.01)
        raise Cancelled("The run was stopped.")

    answers.answer = slow
    page = press(app(), "Run")
    assert begun.wait(10)
    page = page.run()
    assert [bar.proto.text for bar in page.get("progress")] == ["Writing: token 3 of at most 9"]
    run = page.session_state[session.RUN]
    page.button(key="cancel").click().run()
    assert run.wait(10)
    page = page.run()
    assert not page.get("progress")
    assert not page.error
    assert "<p>9 tokens in" in words(page)


def test_lengths_are_the_models_own_until_somebody_sets_them(app: App, answers: Answers) -> None:
    page = app()
    for key in ("min_new_tokens", "max_new_tokens"):
        assert page.number_input(key=key).value is None
        assert page.number_input(key=key).placeholder == "the model's"
    page = press(page, "Run")
    assert (answers.asked[-1].max_new_tokens, answers.asked[-1].search.min_new_tokens) == (None, None)


@pytest.mark.parametrize(("seed", "following"), [(3, 4), (SEED[1], SEED[0])])
def test_a_text_that_was_drawn_is_drawn_again_with_another_seed(
    app: App, answers: Answers, record: Record, seed: int, following: int
) -> None:
    settings = {"mode": "sampling", "temperature": 0.7, "seed": seed}
    drawn = replace(record, provenance=replace(record.provenance, settings=settings))
    page = app("decoding", record=drawn)
    assert str(seed) in words(page)
    page.button(key="draw_again").click().run()
    assert answers.asked[-1].search == Search(by="sampling", seed=following)


@pytest.mark.parametrize("word", ["start", "heads", "decoding"])
def test_every_page_of_a_drawn_text_leads_back_to_the_most_likely_words(
    app: App, answers: Answers, record: Record, word: str
) -> None:
    settings = {"mode": "sampling", "seed": 3}
    drawn = replace(record, provenance=replace(record.provenance, settings=settings))
    page = app(word, record=replace(drawn, model=replace(record.model, name="bart-tiny-en-de")))
    page.session_state["search"], page.session_state["temperature"], page.session_state["seed"] = "sampling", 1.6, 3
    page = page.run()
    assert "drawn at random" in words(page)
    page.button(key="most_likely").click().run()
    assert answers.asked[-1].search == Search()
    assert "most_likely" not in {button.key for button in app(word, record=record).button}


@pytest.mark.parametrize(("changed", "temperature"), [(False, None), (True, 0.5)])
def test_an_example_forgets_a_draw_of_the_button_and_keeps_what_was_set_by_hand(
    app: App, answers: Answers, record: Record, changed: bool, temperature: float | None
) -> None:
    settings = {"mode": "sampling", "seed": 3}
    page = app("decoding", record=replace(record, provenance=replace(record.provenance, settings=settings)))
    page.session_state["search"], page.session_state["beams"] = "beams", 3
    page = page.run()
    page.button(key="draw_again").click().run()
    assert answers.asked[-1].search == Search(by="sampling", seed=4)
    if changed:
        page.number_input(key="temperature").set_value(temperature)
    page.button(key="example_0").click().run()
    by_hand = Search(by="sampling", seed=4, temperature=temperature or 1.0)
    assert answers.asked[-1].search == (by_hand if changed else Search(by="beams", beams=3))


def test_the_address_has_the_numbers_of_a_draw_before_their_fields_are_drawn(
    app: App, answers: Answers, record: Record
) -> None:
    settings = {"mode": "sampling", "seed": 3}
    drawn = replace(record, provenance=replace(record.provenance, settings=settings))
    page = app("decoding", record=drawn, level="beginner").button(key="draw_again").click().run()
    assert page.query_params["seed"] in ("4", ["4"])
    assert "temperature" not in page.query_params  # it has its default
    assert answers.asked[-1].search == Search(by="sampling", seed=4)


def test_what_was_not_drawn_is_not_drawn_again(app: App, record: Record) -> None:
    assert all(button.key != "draw_again" for button in app("decoding", record=record).button)


def test_a_link_with_a_text_runs_at_once(app: App, answers: Answers) -> None:
    page = settled(app("start", text="Linked text.", model="bert-base-uncased", pair="And more.", top_k="3"))
    assert not page.exception
    assert answers.asked == [Request("bert-base-uncased", "Linked text.", "And more.", lower=True)]
    assert page.text_area(key="text").value == "Linked text."


@pytest.mark.parametrize(
    "query",
    [
        {"max_new_tokens": "-1"},
        {"max_new_tokens": "1e12"},
        {"top_k": "abc"},
        {"top_k": "0"},
        {"too_long": "explode"},
        {"capitals": "loud"},
        {"special": "perhaps"},
        {"text": "x" * 5000},
        {"model": "../../etc"},
        {"link": "true"},
        {"nonsense": "1"},
    ],
)
def test_an_invalid_link_breaks_nothing(app: App, answers: Answers, query: dict[str, str]) -> None:
    page = settled(app("start", **query))
    assert not page.exception
    for request in answers.asked:
        assert request.max_new_tokens is None
        assert request.top_k == 10
        assert request.truncate is None


@pytest.mark.slow
def test_the_text_is_in_the_link_only_when_asked(app: App, answers: Answers) -> None:
    page = app()
    page.text_area(key="text").input("Secret text.")
    page = press(page, "Run")
    assert "text" not in page.query_params
    page.toggle(key="link").set_value(True)
    assert not page.text_area(key="text").proto.query_param_key
    page = press(page, "Run")
    assert page.text_area(key="text").proto.query_param_key == "text"
    assert [request.text for request in answers.asked] == ["Secret text.", "Secret text."]


def test_a_file_becomes_the_text(app: App, answers: Answers) -> None:
    page = app()
    page.file_uploader(key="file").upload("a.txt", "안녕하세요.".encode())
    page = press(page, "Run")
    assert answers.asked[0].text == "안녕하세요."
    assert page.text_area(key="text").value == "안녕하세요."
    page.text_area(key="text").input("Then my own.")
    press(page, "Run")
    assert answers.asked[1].text == "Then my own."  # the file was taken once


def test_a_file_in_another_encoding_is_refused_until_it_is_chosen(app: App, answers: Answers) -> None:
    page = app()
    page.file_uploader(key="file").upload("a.txt", "안녕하세요.".encode("cp949"))
    page = press(page, "Run")
    assert answers.asked == []
    assert "not Unicode" in page.error[0].value
    page = press(page, r"Read it as Korean (CP949, EUC-KR)")
    assert page.selectbox(key="encoding").value == "cp949"
    assert answers.asked[0].text == "안녕하세요."
    assert not page.error


TABLE = 'id,text,ko\n1,A car.,차.\n2,,\n3,"=1+1, he said.",말.\n'.encode()


def chosen(page: AppTest, name: str) -> Any:
    """The field for the column, or for the text, of the file."""
    fields = [*page.sidebar.selectbox, *page.sidebar.number_input]
    return next(field for field in fields if str(field.key).startswith(f"{name}_"))


def test_a_text_of_a_table_is_chosen_by_column_and_row(app: App, answers: Answers) -> None:
    page = app()
    page = page.file_uploader(key="file").upload("a.csv", TABLE).run()
    assert chosen(page, "column").options == ["1: id", "2: text", "3: ko"]
    assert chosen(page, "row").options == ["1: A car.", "2: =1+1, he said."]
    assert "1 row cannot be used. Line 3 was left out. It has no text in this column." in words(page)
    page = press(chosen(page, "row").set_value(1).run(), "Run")
    assert answers.asked[-1].text == page.text_area(key="text").value == "=1+1, he said."
    assert "The text is now number 2 of 2 in a.csv." in words(page)
    page = chosen(page, "column").set_value(2).run()
    assert "It becomes the text when you press Run." in words(page)
    page = press(chosen(page, "row").set_value(1).run(), "Run")
    assert answers.asked[-1].text == "말."
    assert (chosen(page, "column").value, chosen(page, "row").value) == (2, 1)  # still, after the run
    page.text_area(key="text").input("Then my own.")
    page = press(page, "Run")
    assert answers.asked[-1].text == "Then my own."
    page = chosen(page, "row").set_value(0).run()
    press(chosen(page, "row").set_value(1).run(), "Run")
    assert answers.asked[-1].text == "말."  # chosen again


def test_a_text_file_of_several_lines_says_that_they_are_one_text(app: App, answers: Answers) -> None:
    page = app().file_uploader(key="file").upload("a.txt", b"One.\n\nTwo.\nThree.\n").run()
    assert "Its 3 lines are read as one text." in words(press(page, "Run"))
    page = app().file_uploader(key="file").upload("a.txt", b"One.\n").run()
    assert "lines are read as one text" not in words(press(page, "Run"))


def test_a_new_table_replaces_the_one_before(app: App, answers: Answers) -> None:
    page = app()
    page = page.file_uploader(key="file").upload("a.csv", TABLE).run()
    page = press(chosen(page, "row").set_value(1).run(), "Run")
    page = page.file_uploader(key="file").upload("b.jsonl", b'{"src": "One."}\n{"src": "Two."}').run()
    assert chosen(page, "row").options == ["1: One.", "2: Two."]
    page = press(page, "Run")
    assert answers.asked[-1].text == page.text_area(key="text").value == "One."


def test_a_table_without_a_usable_column_is_refused_until_another_is_chosen(app: App, answers: Answers) -> None:
    page = app()
    page = page.file_uploader(key="file").upload("a.csv", b"text,other\n,Far.\n").run()
    assert "None of the 1 rows can be used" in page.sidebar.error[0].value
    page = press(page, "Run")
    assert answers.asked == []
    page = chosen(page, "column").set_value(1).run()
    assert not page.sidebar.error
    press(page, "Run")
    assert answers.asked[-1].text == "Far."


def test_a_long_table_offers_its_texts_by_number(app: App, answers: Answers) -> None:
    data = "text\n" + "\n".join(f"Sentence {number}." for number in range(1, uploads.LISTED + 2))
    page = app()
    page = page.file_uploader(key="file").upload("a.csv", data.encode()).run()
    assert chosen(page, "row").max == uploads.LISTED + 1
    page = chosen(page, "row").set_value(77).run()
    assert "Sentence 77." in words(page)
    press(page, "Run")
    assert answers.asked[-1].text == "Sentence 77."


def test_a_table_in_another_encoding_is_refused_until_it_is_chosen(app: App, answers: Answers) -> None:
    page = app()
    data = "text,n\n안녕하세요.,1\n좋아요.,2\n".encode("cp949")
    page = page.file_uploader(key="file").upload("a.csv", data).run()
    assert "not Unicode" in page.sidebar.error[0].value
    page = press(press(page, "Run"), r"Read it as Korean (CP949, EUC-KR)")
    assert answers.asked[0].text == "안녕하세요."
    assert not page.error


def header(page: AppTest) -> Any:
    """The checkbox that says whether the first row of the file is a header."""
    return next(box for box in page.sidebar.checkbox if str(box.key).startswith("header_"))


def test_whether_the_first_row_is_a_header_is_guessed_and_asked(app: App, answers: Answers) -> None:
    page = app()
    page = page.file_uploader(key="file").upload("a.csv", b"nr;satz\n1;Es ist da.\n2;Wo ist es?\n").run()
    assert header(page).value
    assert chosen(page, "column").options == ["1: nr", "2: satz"]
    assert chosen(page, "row").options == ["1: Es ist da.", "2: Wo ist es?"]
    page = press(page, "Run")
    assert answers.asked[-1].text == "Es ist da."
    page = header(page).uncheck().run()
    assert chosen(page, "column").options == ["column 1", "column 2"]
    assert chosen(page, "row").options == ["1: satz", "2: Es ist da.", "3: Wo ist es?"]
    press(page, "Run")
    assert answers.asked[-1].text == "satz"


def test_whether_quotation_marks_enclose_cells_is_asked_where_a_row_is_of_several_lines(
    app: App, answers: Answers
) -> None:
    page = app().file_uploader(key="file").upload("a.tsv", b'text\tde\n"Ja\nZwei"\tzwei\nDrei\tdrei\n').run()
    box = next(box for box in page.sidebar.checkbox if str(box.key).startswith("quotes_"))
    assert chosen(page, "row").options == ["1: Ja Zwei", "2: Drei"]
    page = press(page, "Run")
    assert answers.asked[-1].text == "Ja\nZwei"
    assert "Rows of several lines, in quotation marks: 1." in words(page)
    page = box.uncheck().run()
    assert chosen(page, "row").options == ['1: "Ja', '2: Zwei"', "3: Drei"]


def test_a_file_of_another_format_or_size_is_refused_in_the_language_of_the_page(app: App, answers: Answers) -> None:
    for name, data, said in (
        ("a.docx", b"PK\x03\x04" + bytes(9), "텍스트가 아니라"),
        ("a.exe", b"MZ", "이 형식의 파일은"),
        ("a.txt", b"A car. " * 200_000, r"1\.0 MB까지"),
    ):
        page = app(lang="ko").file_uploader(key="file").upload(name, data).run()
        assert [said in error.value for error in page.main.error] == [True]
        assert "열 수 있는 파일" in words(page)
        assert not page.sidebar.error


def test_an_example_is_not_replaced_by_a_file_that_waits(app: App, answers: Answers) -> None:
    page = app()
    page = page.file_uploader(key="file").upload("a.csv", TABLE).run()
    page = page.button(key="example_1").click().run()
    assert answers.asked[-1].text == "The cat is sleeping on the sofa."
    press(page, "Run")
    assert answers.asked[-1].text == "A car."


def test_the_own_text_of_the_start_page_runs(app: App, answers: Answers) -> None:
    page = app()
    page.text_input(key="own_text").input("My own text.")
    page = next(button for button in page.main.button if button.label == "Run").click().run()
    assert not page.exception
    assert answers.asked[0].text == "My own text."
    assert page.text_area(key="text").value == "My own text."
    assert page.text_input(key="own_text").value == "My own text."  # to be changed
    page = page.button(key="example_1").click().run()
    assert page.text_input(key="own_text").value == ""


def test_every_model_of_the_catalogue_has_examples(app: App, answers: Answers) -> None:
    from bartviz.app.frame.examples import examples

    assert all(examples(known.name, known.kind) for known in CATALOGUE)


@pytest.mark.parametrize("name", ["BARTVIZ_RECORD_MB", "BARTVIZ_MODEL_ROOTS"])
def test_a_senseless_setting_stops_the_app_and_is_named(app: App, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "-1")
    session.engine.clear()
    page = app()
    session.engine.clear()
    assert [name.replace("_", r"\_") in error.value for error in page.error] == [True]
    assert not page.text_area


@pytest.mark.slow
def test_what_is_typed_after_an_example_counts(app: App, answers: Answers) -> None:
    page = app().button(key="example_1").click().run()
    page.text_area(key="text").input("My own text.")
    page = press(page, "Run")
    page = page.run()
    assert page.text_area(key="text").value == "My own text."
    assert [request.text for request in answers.asked] == ["The cat is sleeping on the sofa.", "My own text."]


def test_a_first_run_that_is_broken_off_still_starts_its_link(
    app: App, answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw, calls = settings.draw, []

    def breaks(kind: ModelKind) -> None:
        calls.append("drawn")
        if len(calls) == 1:
            st.rerun()
        draw(kind)

    monkeypatch.setattr(settings, "draw", breaks)
    page = settled(app("start", text="Linked text."))
    assert len(calls) > 1
    assert [request.text for request in answers.asked] == ["Linked text."]
    assert page.text_area(key="text").value == "Linked text."


def test_a_link_that_other_programs_would_cut_off_is_reported(app: App, answers: Answers) -> None:
    page = app("heads", text="I have a cat.")
    assert "mail and chat programs" not in words(page)
    page = app("heads", text="나는 오늘 새 자동차를 사고 싶어요. " * 18)
    page.session_state["share"] = True
    page.run()
    assert re.search(r"With its texts this link has 2,\d\d\d characters", words(page))


def test_a_folder_that_cannot_be_opened_says_why_and_does_not_run(
    app: App, answers: Answers, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "config.json").write_text('{"model_type": "no-such-family"}')
    monkeypatch.setenv("BARTVIZ_MODEL_ROOTS", str(tmp_path))
    page = app()
    assert "foreign (cannot be opened)" in page.selectbox(key="model").options
    assert not page.sidebar.warning
    page.selectbox(key="model").set_value("foreign").run()
    assert not page.exception
    assert r"model\_type must be" in page.sidebar.warning[0].value
    buttons = [button for button in page.sidebar.button if button.label == "Run" or "example" in str(button.key)]
    assert len(buttons) > 1
    assert all(button.disabled for button in buttons)
    page.selectbox(key="model").set_value("bart-tiny-en-de").run()
    assert not page.sidebar.warning
    assert not next(button for button in page.sidebar.button if button.label == "Run").disabled
    assert [request.model for request in answers.asked] == ["bart-tiny-en-de"]  # it ships, so it runs at once


@pytest.fixture
def other_run(tmp_path: Path) -> tuple[Record, bytes]:
    """A run of another text by a shipped model, and its file as it is downloaded."""
    record = bartviz.capture(bartviz.load("bart-tiny-en-de"), "It is late.", target="Es ist spät.")
    record.save(tmp_path / "late.safetensors")
    return record, (tmp_path / "late.safetensors").read_bytes()


@pytest.mark.slow
def test_a_saved_record_is_shown_at_once_with_its_texts_in_the_controls(
    app: App, other_run: tuple[Record, bytes]
) -> None:
    record, data = other_run
    page = app("masks")
    page = page.file_uploader(key="file").upload("late.safetensors", data).run()
    assert not page.exception
    assert page.session_state[session.RECORD] == record
    assert (page.text_area(key="text").value, page.text_input(key="target").value) == ("It is late.", "Es ist spät.")
    assert page.selectbox(key="model").value == "bart-tiny-en-de"
    assert "This is the run saved in late.safetensors." in words(page)
    page = page.switch_page("pages/heads.py").run()
    assert page.session_state[session.RECORD] == record
    assert page.session_state[session.RECORD].seal == "unchanged"


@pytest.mark.slow
def test_a_record_that_cannot_be_opened_says_why_and_nothing_changes(app: App, other_run: tuple[Record, bytes]) -> None:
    changed = bytearray(other_run[1])
    changed[-1] ^= 1
    page = app()
    for data, why in ((bytes(changed), "was changed after it was saved"), (b"no record", "not a bartviz record")):
        page = page.file_uploader(key="file").upload("late.safetensors", data).run()
        assert [why in error.value for error in page.error] == [True]
        assert session.RECORD not in page.session_state
    page = page.file_uploader(key="file").upload("a.txt", b"One.\n").run()
    assert not page.error


@pytest.mark.slow
def test_an_opened_record_says_what_it_is_and_leads_back(app: App, other_run: tuple[Record, bytes]) -> None:
    record, data = other_run
    page = app("masks")
    before = (page.text_area(key="text").value, page.selectbox(key="model").value)
    page = page.file_uploader(key="file").upload("late.safetensors", data).run()
    assert page.session_state["_scroll_to"].ups == 1  # the picture is at the top, the field further down
    made = record.provenance.made
    said = f"Opened: late.safetensors. bart-tiny-en-de read “It is late.” on {made[:10]} at {made[11:16]} UTC."
    assert said in words(page)
    page = page.switch_page("pages/heads.py").run()
    assert said in words(page)
    page = press(page, "Back to my own text")
    assert not page.exception
    assert said not in words(page)
    assert page.session_state[session.RECORD] is None
    assert (page.text_area(key="text").value, page.selectbox(key="model").value) == before
    assert page.text_input(key="target").value == ""


@pytest.mark.slow
def test_a_record_of_a_model_that_is_not_here_is_shown_and_says_so(
    app: App, other_run: tuple[Record, bytes], tmp_path: Path
) -> None:
    record = replace(other_run[0], model=replace(other_run[0].model, name="somebodys-model"))
    record.save(tmp_path / "other.safetensors")
    page = app("lessons")
    data = (tmp_path / "other.safetensors").read_bytes()
    page = page.file_uploader(key="file").upload("other.safetensors", data).run()
    assert page.title[0].value == "What does a language model look at?"  # a page that shows it
    assert "somebodys-model read “It is late.”" in words(page)
    assert "That model is not here" in words(page)
    page = page.switch_page("pages/experiments.py").run()
    assert not page.exception
    assert "somebodys-model is not on this machine" in page.error[0].value.replace("\\", "")


def test_an_atlas_is_opened_on_its_page(app: App) -> None:
    data = one_file.pack(shipped.atlas("bert-tiny-en"))
    page = app().file_uploader(key="file").upload("ours.zip", data).run()
    assert not page.exception
    assert page.selectbox(key="atlas").value == "ours.zip"
    assert page.title[0].value == page_list.page("corpus").title
    page = page.file_uploader(key="file").upload("broken.zip", data[:-99]).run()
    assert [error.value for error in page.error] == [r"broken\.zip is not a zip archive\, or it is damaged\."]
    page = press(page, "Close")
    assert not page.error


def test_a_replay_is_opened_on_its_page(app: App) -> None:
    data = replay.SHIPPED.read_bytes()
    page = app().file_uploader(key="file").upload("ours.zip", data).run()
    assert not page.exception
    assert page.title[0].value == page_list.page("born").title
    assert page.session_state["_own_replay"].steps == replay.open_replay(data).steps
    broken = io.BytesIO()
    with zipfile.ZipFile(broken, "w") as archive:
        archive.writestr("about.json", "{}")
    page = page.file_uploader(key="file").upload("broken.zip", broken.getvalue()).run()
    assert [error.value for error in page.error] == [r"broken\.zip is not a replay of a training\, or it is damaged\."]


def test_a_dropped_text_waits_and_says_so_where_the_section_is_closed(app: App, answers: Answers) -> None:
    page = app(level="beginner")
    page = page.file_uploader(key="file").upload("a.txt", b"It is late.").run()
    assert "a.txt becomes the text when you press Run." in words(page)
    page = page.button(key="opened_run").click().run()
    assert settled(page).text_area(key="text").value == "It is late."
    assert [request.text for request in answers.asked] == ["It is late."]
    assert "when you press Run" not in words(page)


def test_a_file_that_the_browser_keeps_back_is_refused_with_both_sizes(app: App) -> None:
    page = app(lang="ko")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(st, "session_state", page.session_state)
        uploads.refuse_size("<b>big</b>.safetensors", 12_340_000)
    page = page.run()
    assert [("12" in error.value, "8 MB" in error.value) for error in page.error] == [(True, True)]
    assert "열 수 있는 파일" in words(page)


def test_the_text_of_an_earlier_visit_in_this_tab_is_offered_until_another_is_run(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Request] = []
    monkeypatch.setattr(session, "submit", asked.append)
    before = {"model": "bart-tiny-en-de", "text": "It is <b>late</b>.", "pair": "", "target": "Es ist spät."}
    page = app("heads")
    assert "Earlier in this tab" not in words(page)
    page.session_state["_kept_text"] = before
    page = page.run()
    assert "Earlier in this tab you ran a text of your own: “It is &lt;b&gt;late&lt;/b&gt;.”" in words(page)
    page.button(key="opened_kept").click().run()
    (request,) = asked
    assert (request.model, request.text, request.target) == (before["model"], before["text"], before["target"])
    page.session_state[session.ASKED] = request
    assert "Earlier in this tab" not in words(page.run())


@pytest.mark.parametrize("found", [None, [], {"text": "No model."}, {"model": 3, "text": "", "pair": "", "target": ""}])
def test_what_a_tab_has_kept_of_something_else_is_not_offered(found: object) -> None:
    state: dict[str, object] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(st, "session_state", state)
        sidebar._remember(found)
    assert state == {"_kept_text": None}


def test_an_own_text_is_kept_and_an_example_is_not(app: App) -> None:
    page = app("heads")
    for text, kept in (("My own text.", True), ("I want to buy a car.", False)):
        page.session_state[session.ASKED] = Request(model="bart-tiny-en-de", text=text)
        page = page.run()
        (listener,) = [
            part.proto for part in page.get("bidi_component") if part.proto.component_name == "bartviz.listeners"
        ]
        data = json.loads(listener.bytes)
        assert (data["own"] is not None) == kept
