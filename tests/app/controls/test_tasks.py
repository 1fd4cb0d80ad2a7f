"""Work of a page, by AppTest: begun in a callback, shown while it runs, answered, stopped, refused, forgotten."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from bartviz.app import streamlit_internals
from bartviz.app.state import session
from bartviz.errors import Cancelled, TextError
from bartviz.serving.engine import Engine
from bartviz.serving.limits import Limits

PROCEED = threading.Event()
BEGAN = threading.Event()


def work(model: Any, ticket: Any) -> str:
    ticket.report("Counting", 0.25)
    BEGAN.set()
    while not PROCEED.wait(0.01):
        if ticket.cancelled():
            raise Cancelled("The run was stopped.")
    if model.info.fingerprint == "bad":
        raise TextError("The text is empty.")
    return f"answer of {model.info.fingerprint}"


def script() -> None:
    import streamlit as st

    from bartviz.app.controls import tasks
    from bartviz.app.frame import languages
    from tests.app.controls.test_tasks import work

    languages.begin()  # as every run of the app does; else it speaks as the test before it did
    for model in ("good", "bad"):
        st.button(model, on_click=tasks.begin, args=("sum", model, {"model": model}, work))
    st.button("drop", on_click=tasks.drop, args=("sum",))
    wanted = st.checkbox("only for good")
    st.text(str(tasks.show("sum", {"model": "good"} if wanted else None)))


def asking() -> None:
    import streamlit as st

    from bartviz.app.controls import tasks
    from bartviz.app.frame import languages
    from tests.app.controls.test_tasks import work

    languages.begin()  # as every run of the app does; else it speaks as the test before it did
    model = st.selectbox("Model", ["good", "bad"])
    waits = "Begin" if st.checkbox("on request") else None
    st.text(str(tasks.ask("sum", model, {"text": "same"}, work, button=waits)))


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> AppTest:
    def fake(self: Engine, ticket: object, name: str) -> SimpleNamespace:
        return SimpleNamespace(info=SimpleNamespace(fingerprint=name, parameters=0, kind="encoder"))

    engine = Engine(Limits())
    monkeypatch.setattr(Engine, "load", fake)
    monkeypatch.setattr(session, "engine", lambda: engine)
    monkeypatch.setattr(streamlit_internals, "is_alive", lambda _session: True)
    PROCEED.clear()
    BEGAN.clear()
    return AppTest.from_function(script, default_timeout=120).run()


def press(page: AppTest, label: str) -> AppTest:
    return next(button for button in page.button if button.label == label).click().run()


def once_begun(page: AppTest) -> AppTest:
    """The page as it is when the work has begun, however long the first imports take."""
    assert BEGAN.wait(60)
    return page.run()


def test_nothing_is_shown_before_it_is_requested(page: AppTest) -> None:
    assert [text.value for text in page.text] == ["None"]
    assert page.get("progress") == []


def test_a_task_reports_progress_and_returns_its_result(page: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "PATIENCE", 0.2)
    page = once_begun(press(page, "good"))
    assert page.text[0].value == "None"
    assert page.get("progress")[0].proto.text == "Counting"
    PROCEED.set()
    assert page.session_state["_task_sum"].run.wait(30)
    assert page.run().text[0].value == "answer of good"
    assert page.get("progress") == []


def test_a_task_can_be_stopped(page: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "PATIENCE", 0.2)
    page = press(once_begun(press(page, "good")), "Cancel")
    assert page.session_state["_task_sum"].run.wait(30)
    page = page.run()
    assert page.text[0].value == "None"
    assert page.get("progress") == []
    assert page.session_state["_task_sum"].run.state == "cancelled"


def test_a_failure_is_one_sentence(page: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "PATIENCE", 10.0)
    PROCEED.set()
    page = press(page, "bad")
    assert [error.value for error in page.error] == ["The text is empty\\."]  # escaped: it is shown as Markdown
    assert list(press(page, "drop").error) == []


def test_an_answer_to_another_question_is_forgotten(page: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "PATIENCE", 10.0)
    PROCEED.set()
    page = press(page, "good")
    assert page.checkbox[0].check().run().text[0].value == "answer of good"
    page = press(page, "bad")
    assert page.text[0].value == "None"
    assert "_task_sum" not in page.session_state


def named(page: AppTest) -> list[str]:
    return [button.label for button in page.button]


def test_a_question_is_asked_once_and_again_for_another_model(page: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "PATIENCE", 10.0)
    PROCEED.set()
    page = AppTest.from_function(asking, default_timeout=120).run()
    assert page.text[0].value == "answer of good"
    run = page.session_state["_task_sum"].run
    assert page.run().session_state["_task_sum"].run is run
    page = page.selectbox[0].select("bad").run()
    assert [error.value for error in page.error] == ["The text is empty\\."]
    assert named(page) == []  # the same text would be refused again


def test_what_was_stopped_can_be_asked_again(page: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "PATIENCE", 0.2)
    page = press(once_begun(AppTest.from_function(asking, default_timeout=120).run()), "Cancel")
    assert page.session_state["_task_sum"].run.wait(30)
    page = page.run()
    assert named(page) == ["Run it again"]
    monkeypatch.setattr(session, "PATIENCE", 10.0)
    PROCEED.set()
    assert press(page, "Run it again").text[0].value == "answer of good"


def test_a_long_question_waits_for_its_button(page: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "PATIENCE", 10.0)
    PROCEED.set()
    page = AppTest.from_function(asking, default_timeout=120).run()
    page = page.checkbox[0].check().run()
    assert page.text[0].value == "answer of good"  # it is there already
    page = page.selectbox[0].select("bad").run()
    assert (page.text[0].value, named(page)) == ("None", ["Begin"])
    assert len(press(page, "Begin").error) == 1
