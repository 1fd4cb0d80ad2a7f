"""The language of a visitor is the same in runs, callbacks, fragments and the gate."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from bartviz import language
from bartviz.app import streamlit_internals
from bartviz.app.controls import show
from bartviz.app.frame import languages, page_list
from bartviz.language import _, current, later, speaking
from bartviz.language.korean_particles import PAIR
from bartviz.record.record import Record
from bartviz.serving.engine import Engine
from bartviz.serving.limits import Limits
from tests.app.frame.test_sidebar import Answers, answers, press
from tests.support import stand_in
from tests.support.pages import App
from tests.support.seen import texts

__all__ = ["answers"]


def script() -> None:
    import streamlit as st

    from bartviz.app.frame import languages
    from bartviz.app.state import url_state
    from bartviz.language import current

    def note() -> None:
        st.session_state["in_callback"] = current()

    languages.begin()
    languages.choose()
    st.button("Ask", on_click=note)
    st.fragment(lambda: st.text(current()))()
    st.text(current())
    url_state.write()


def opened(monkeypatch: pytest.MonkeyPatch, locale: str | None = None, **query: str) -> AppTest:
    monkeypatch.setattr(st, "context", SimpleNamespace(locale=locale))
    page = AppTest.from_function(script, default_timeout=120)
    for name, value in query.items():
        page.query_params[name] = value
    return page.run()


def heard(page: AppTest) -> set[str]:
    assert not page.exception
    return {text.value for text in page.text}


@pytest.mark.parametrize(
    ("locale", "expected"), [(None, "en"), ("ko-KR", "ko"), ("ko", "ko"), ("KO_kr", "ko"), ("de-DE", "en"), ("", "en")]
)
def test_the_browser_says_it_first(monkeypatch: pytest.MonkeyPatch, locale: str | None, expected: str) -> None:
    page = opened(monkeypatch, locale)
    assert heard(page) == {expected}
    assert dict(page.query_params) == {}


@pytest.mark.parametrize(("word", "expected"), [("en", "en"), ("EN-gb", "en"), ("xx", "ko"), ("", "ko")])
def test_a_link_wins(monkeypatch: pytest.MonkeyPatch, word: str, expected: str) -> None:
    assert heard(opened(monkeypatch, "ko-KR", lang=word)) == {expected}


def test_a_chosen_language_overrides_that_of_the_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    page = opened(monkeypatch, "ko-KR")
    page.segmented_control(key="lang").set_value("en").run()
    assert heard(page) == {"en"}
    assert page.query_params["lang"] in ("en", ["en"])
    page.button[0].click().run()
    assert page.session_state["in_callback"] == "en"
    page.segmented_control(key="lang").set_value("ko").run()
    assert heard(page) == {"ko"}
    assert "lang" not in page.query_params


def test_outside_of_a_visit_it_is_english_and_ended_visits_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    assert languages.spoken() == "en"
    ended = {f"ended {number}": "ko" for number in range(languages.MANY + 1)}
    monkeypatch.setattr(languages, "_SPOKEN", spoken := dict(ended))
    monkeypatch.setattr(streamlit_internals, "is_alive", lambda session: session == "ended 3")
    assert heard(opened(monkeypatch, "ko-KR")) == {"ko"}
    assert len(spoken) == 2
    assert "ended 3" in spoken


class Unloaded(Engine):
    def load(self, ticket: Any, name: str, **_options: Any) -> Any:
        return SimpleNamespace(info=SimpleNamespace(fingerprint=name, parameters=0, kind="encoder"))


def test_messages_of_the_gate_are_in_the_language_of_the_request() -> None:
    engine = Unloaded(Limits())

    def work(model: Any, ticket: Any) -> str:
        ticket.report(later("Running the model"))
        return current()

    with speaking("ko"):
        korean = engine.work("a", "m", {"of": 1}, work, len)
    english = engine.work("b", "m", {"of": 2}, work, len)
    assert korean.wait(30)
    assert english.wait(30)
    assert (korean.result, english.result) == ("ko", "en")
    with speaking("ko"):
        assert _(english.progress[0]) == "모델을 실행하는 중"


@pytest.mark.slow
def test_the_frame_in_korean(app: App, answers: Answers) -> None:
    def answer(ticket: Any, request: Any) -> Record:
        return stand_in.record()

    answers.answer = answer
    page = app("heads", lang="ko")
    assert [title.value for title in page.title] != ["Where does each head look?"]
    assert page.text_area(key="text").label == "텍스트: 직접 써 보세요"
    page = press(page, "실행")
    assert not page.exception
    assert len(answers.asked) == 1
    page.segmented_control(key="lang").set_value("en").run()
    assert [title.value for title in page.title] == ["Where does each head look?"]
    assert page.text_area(key="text").value == "I want to buy a car."


@pytest.mark.slow
@pytest.mark.parametrize("word", [entry.word for entry in page_list.PAGES])
def test_no_particle_is_left_undecided(app: App, word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither in what Python says nor in what a script or plotly fills in: there no particle may follow the place."""
    monkeypatch.setattr(language, "_followed", [lambda: "ko"])
    page = app(word, level="expert", lang="ko")
    assert not page.exception
    said = [text for _kind, text in texts(page)]
    assert any("가" <= letter <= "힣" for text in said for letter in text)
    assert not [text[:200] for text in said if PAIR.search(text)]


def test_heads_in_a_table_are_named_in_the_readers_language() -> None:
    frame = pd.DataFrame({"head": ["cross L2H0", None], "and": ["encoder L0H1", "decoder L1H1"], "layer": [2, 0]})
    with speaking("ko"):
        said = show.in_words(frame)
    assert said["head"].tolist()[0] == "교차 L2H0"
    assert said["and"].tolist() == ["인코더 L0H1", "디코더 L1H1"]
    assert said["layer"].tolist() == [2, 0]
    assert show.in_words(frame)["and"].tolist() == frame["and"].tolist()
