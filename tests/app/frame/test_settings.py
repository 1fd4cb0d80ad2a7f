"""The decoding settings of the sidebar: only those that apply, all of them in the link, all of them validated."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest
from transformers import GenerationConfig

import bartviz
from bartviz.app.frame import settings
from bartviz.app.state import session
from bartviz.record.record import Record
from bartviz.serving.search import Search
from tests.app.frame.test_sidebar import Answers, answers, press, settled
from tests.support import stand_in
from tests.support.pages import App
from tests.support.visits import words

__all__ = ["answers"]


def shown(page: AppTest) -> set[str]:
    """The labels of the numbers that the sidebar asks for."""
    return {field.label for field in page.sidebar.number_input}


COMMON = {"At least", "At most", "Never repeat an n-gram of", "Candidates kept per step"}


def test_only_what_applies_is_shown(app: App, answers: Answers) -> None:
    page = app()
    assert shown(page) == COMMON
    page = page.selectbox(key="search").set_value("beams").run()
    assert shown(page) == COMMON | {"Beams", "Length penalty"}
    page = page.selectbox(key="search").set_value("sampling").run()
    assert shown(page) == COMMON | {"Temperature", "Top-k", "Top-p", "Seed"}
    page = page.selectbox(key="model").set_value("bert-base-uncased").run()
    assert shown(page) == set()


def test_what_stays_folded_is_not_drawn_and_keeps_its_values(app: App, answers: Answers) -> None:
    page = app("start", level="beginner")
    assert shown(page) == set()
    press(page, "Run")
    assert answers.asked[-1].search == Search()
    page.session_state["folded_decoding"] = True
    page = page.run().number_input(key="ngrams").set_value(3).run()
    page.session_state["folded_decoding"] = False
    press(page.run(), "Run")
    assert answers.asked[-1].search == Search(ngrams=3)
    assert shown(page) == COMMON


def test_beams_are_requested_as_set(app: App, answers: Answers) -> None:
    page = app().selectbox(key="search").set_value("beams").run()
    page.number_input(key="beams").set_value(3)
    page.number_input(key="length_penalty").set_value(0.5)
    page.selectbox(key="stop").set_value("enough")
    page.number_input(key="min_new_tokens").set_value(5)
    press(page, "Run")
    assert answers.asked[0].search == Search("beams", 3, 0.5, True, min_new_tokens=5)


def test_a_link_restores_a_draw(app: App, answers: Answers) -> None:
    query = {"search": "sampling", "temperature": "0.7", "draw_k": "5", "draw_p": "0.9", "seed": "12"}
    settled(app("start", **query))
    assert answers.asked[0].search == Search("sampling", temperature=0.7, top_k=5, top_p=0.9, seed=12)


@pytest.mark.parametrize(
    "query",
    [
        {"search": "magic"},
        {"search": "beams", "beams": "99"},
        {"search": "beams", "length_penalty": "1e9"},
        {"search": "sampling", "temperature": "nan"},
        {"search": "sampling", "draw_p": "7"},
        {"stop": "x"},
        {"search": "sampling", "seed": "-4"},
        {"min_new_tokens": "-1"},
        {"ngrams": "perhaps"},
        {"ngrams": "99"},
        {"ngrams": "-1"},
    ],
)
def test_an_invalid_link_breaks_nothing(app: App, answers: Answers, query: dict[str, str]) -> None:
    page = settled(app("start", **query))
    assert not page.exception
    for request in answers.asked:
        assert request.search in (Search(), Search("beams", 4), Search("sampling"))


@pytest.mark.slow
def test_a_given_output_is_not_searched(app: App, answers: Answers) -> None:
    page = app().selectbox(key="search").set_value("beams").run()
    page.text_input(key="target").input("Hallo.")
    press(page, "Run")
    assert answers.asked[0].search == Search()


def test_the_models_settings_are_reported_when_it_is_loaded(
    app: App, answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = GenerationConfig(num_beams=4, length_penalty=2.0, min_length=56, max_length=142, no_repeat_ngram_size=3)
    loaded: Any = SimpleNamespace(generation=summary, info=SimpleNamespace(positions=1024))
    page = app().selectbox(key="search").set_value("checkpoint").run()
    assert "known once the model is loaded" in words(page)
    monkeypatch.setattr(answers.models, "peek", lambda name: loaded)
    page = page.run()
    said = "4 beams, length at least 56, length at most 142, length penalty 2, no repeated n-grams of 3"
    assert said in words(page)
    assert page.sidebar.number_input(key="ngrams").placeholder == "3"
    page.sidebar.number_input(key="ngrams").set_value(0)
    monkeypatch.setattr(answers.models, "peek", lambda name: None)  # a run needs more of a model
    press(page, "Run")
    assert answers.asked[0].search == Search("checkpoint", ngrams=0)


@pytest.mark.slow
def test_the_rule_against_repetition_can_be_tried_where_the_model_has_none(app: App, answers: Answers) -> None:
    page = app().number_input(key="ngrams").set_value(3).run()
    press(page, "Run")
    assert answers.asked[0].search == Search(ngrams=3)
    settled(app("start", ngrams="2", text="A car."))
    assert answers.asked[1].search == Search(ngrams=2)


def test_what_the_last_run_really_had_is_said(app: App, answers: Answers) -> None:
    def answer(ticket: Any, request: Any) -> Record:
        base = stand_in.record()
        settings = {"mode": "beams", "beams": 4, "rules": ("minimum length", "forced end token"), "forced": ()}
        model = replace(base.model, name=request.model)
        return replace(base, model=model, provenance=replace(base.provenance, settings=settings))

    answers.answer = answer
    page = press(app(), "Run")
    expected = "The last run: mode: beams; beams: 4; rules: minimum length, forced end token; stopped by: &lt;/s&gt;."
    assert expected in words(page)


@pytest.mark.slow
def test_every_key_is_a_link(app: App, answers: Answers) -> None:
    """A key of the list that no control has would start a run for nothing."""
    found: set[str] = set()
    for search in settings.SEARCHES:
        page = app().selectbox(key="search").set_value(search).run()
        fields = [*page.sidebar.number_input, *page.sidebar.selectbox, *page.sidebar.toggle]
        found |= {str(field.key) for field in fields}
    assert set(settings.KEYS) <= found
    assert session.RUN not in page.session_state or page.session_state[session.RUN] is None


@pytest.mark.slow
def test_given_and_branched_steps_are_described_from_1_with_words() -> None:
    model = bartviz.load("bart-tiny-en-de")
    first = bartviz.decode(model, "I want to buy a car.", beams=2)  # Ich möchte ein Auto kaufen.
    made = bartviz.branch(model, bartviz.branch(model, first, 2, " will"), 4, " Haus")
    told = settings.used(made)
    assert "given tokens: step 3 “will”, step 5 “Haus”; branched at: step 5;" in told
    assert "early stopping: False (a better one is unlikely)" in told
    cut = bartviz.decode(model, "I want to buy a car.", force={4: " Haus"}, max_new_tokens=3)
    assert "given tokens" not in settings.used(cut)  # the text ended before it


@pytest.mark.parametrize("value", ["inf", "-Infinity", "1e999"])
def test_an_endless_number_of_a_link_is_forgotten(app: App, value: str) -> None:
    keys = dict.fromkeys(settings.KEYS, value) | {"noise_seed": value, "seed": value, "count": value}
    for word, search in (("start", "beams"), ("denoising", "sampling"), ("quiz", "greedy")):
        page = app(word, **keys | {"search": search, "text": "inf"})
        assert not page.exception
        assert page.sidebar.number_input(key="max_new_tokens").value is None  # the model's own
        assert page.sidebar.text_area(key="text").value == "inf"
        assert not set(page.query_params) & {"max_new_tokens", "top_k"}
