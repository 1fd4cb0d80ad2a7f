"""A script run may be interrupted at any access of the session's state: no request is lost."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from streamlit.runtime.scriptrunner import RerunException, get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData
from streamlit.runtime.state.safe_session_state import SafeSessionState

from bartviz.app.controls import progress
from bartviz.app.frame import page as frame
from bartviz.app.state import session
from bartviz.errors import Cancelled
from bartviz.serving import torch_import
from tests.app.frame.test_sidebar import Answers, answers, press, settled
from tests.support import stand_in
from tests.support.pages import App

__all__ = ["answers"]

OURS = ("_source", "_link", "_linked", "_echo", "_kind", "_record", "_run", "_error", "_seen")
MOST = 80  # no script run of the start page looks at our own keys as often as that


class Breaks:
    """Breaks a script run off once, at its ``at``-th access of a key of ours."""

    def __init__(self, at: int) -> None:
        self.left = at

    def look(self, key: str) -> None:
        if key not in OURS or get_script_run_ctx(suppress_warning=True) is None:
            return
        self.left -= 1
        if self.left == 0:
            context = get_script_run_ctx()
            assert context is not None
            raise RerunException(RerunData(context.query_string, page_script_hash=context.page_script_hash))


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], Breaks]:
    def at(place: int) -> Breaks:
        breaks = Breaks(place)
        for name in ("__getitem__", "__setitem__", "__delitem__", "__contains__"):
            monkeypatch.setattr(SafeSessionState, name, _watched(REAL[name], breaks))
        return breaks

    return at


REAL = {name: getattr(SafeSessionState, name) for name in ("__getitem__", "__setitem__", "__delitem__", "__contains__")}


def _watched(real: Callable[..., Any], breaks: Breaks) -> Callable[..., Any]:
    def access(state: SafeSessionState, key: str, *value: Any) -> Any:
        breaks.look(key)
        return real(state, key, *value)

    return access


@pytest.mark.slow
def test_a_link_runs_even_if_its_first_script_run_is_interrupted(
    app: App, answers: Answers, broken: Callable[[int], Breaks]
) -> None:
    answers.answer = lambda ticket, request: stand_in.record(("<s>", "Linked", "</s>"), kind="encoder")
    for place in range(1, MOST):
        answers.asked.clear()
        breaks = broken(place)
        page = settled(app("start", text="Linked text.", model="bert-base-uncased"))
        page = page.run()
        assert [asked.text for asked in answers.asked][-1:] == ["Linked text."], f"broken off at access {place}"
        record = page.session_state[session.RECORD]
        assert record.source_text == "Linked", f"broken off at access {place}"
        if breaks.left > 0:  # the whole visit had fewer accesses
            return
    pytest.fail("more accesses than expected: raise MOST")


def test_a_run_that_nobody_stopped_begins_again_once(app: App, answers: Answers) -> None:
    """The connection broke and came back: the run was cancelled because nobody seemed to wait for it."""
    outcomes = iter(
        [Cancelled("The visitor who started this run has left."), stand_in.record(("<s>", "Linked", "</s>"))]
    )

    def away(ticket: Any, request: Any) -> Any:
        outcome = next(outcomes)
        if isinstance(outcome, Cancelled):
            raise outcome
        return outcome

    answers.answer = away
    page = settled(app("start", text="Linked text.", model="bert-base-uncased")).run()
    page = settled(page).run()
    assert [asked.text for asked in answers.asked] == ["Linked text."] * 2
    assert page.session_state[session.RECORD].source_text == "Linked"


def test_a_run_that_is_stopped_twice_says_so(app: App, answers: Answers) -> None:
    def away(ticket: Any, request: Any) -> Any:
        raise Cancelled("The visitor who started this run has left.")

    answers.answer = away
    page = settled(app("start", text="Linked text.", model="bert-base-uncased")).run()
    page = settled(page).run()
    assert "connection was lost" in page.error[0].value
    assert len(answers.asked) == 2


def test_a_link_is_the_first_thing_seen_where_the_library_is_there(
    app: App, answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers.answer = lambda ticket, request: stand_in.record(("<s>", "Linked", "</s>"), kind="encoder")
    monkeypatch.setattr(torch_import, "imported", lambda: True)
    monkeypatch.setattr(session, "PATIENCE", 60)
    page = app("start", text="Linked text.", model="bert-base-uncased")
    assert page.session_state[session.RECORD].source_text == "Linked"
    assert page.session_state[session.RUN] is None


def test_what_a_link_chooses_is_not_brought_within_another_record(
    app: App, answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While its run is on its way the saved record, which is shorter, is not drawn in its place."""
    monkeypatch.setattr(session, "PATIENCE", 0.0)
    free = threading.Event()
    long = [f"w{number}" for number in range(30)]

    def answer(ticket: Any, request: Any) -> Any:
        assert free.wait(60)
        return stand_in.record(long, kind="encoder")

    answers.answer = answer
    page = app("inside", text="A long text.", model="bert-base-uncased", row="20", token="25", follow="false")
    assert not page.exception
    assert not page.get("plotly_chart")
    free.set()
    page = settled(page).run()
    assert [page.slider(key=key).value for key in ("row", "token")] == [20, 25]
    assert page.get("plotly_chart")


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Set when a page begins to wait for the record of its link, where the library is there."""
    begun, watch = threading.Event(), progress.watch

    def wait(*given: Any, **named: Any) -> None:
        begun.set()
        watch(*given, **named)

    monkeypatch.setattr(progress, "watch", wait)
    monkeypatch.setattr(torch_import, "imported", lambda: True)
    monkeypatch.setattr(session, "PATIENCE", 0.0)
    return begun


def test_a_link_takes_one_script_run(
    app: App, answers: Answers, watched: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(ticket: Any, request: Any) -> Any:
        assert watched.wait(60)
        return stand_in.record([f"w{number}" for number in range(30)], kind="encoder")

    answers.answer = answer
    monkeypatch.setattr(frame, "PATIENCE", 60.0)
    page = app("inside", text="A long text.", model="bert-base-uncased", row="20", token="25", follow="false")
    assert not page.exception
    assert page.session_state[session.RUN] is None
    assert [page.slider(key=key).value for key in ("row", "token")] == [20, 25]
    assert page.get("plotly_chart")
    assert not page.get("progress")


def test_a_link_to_the_first_page_takes_one_script_run(
    app: App, answers: Answers, watched: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(ticket: Any, request: Any) -> Any:
        assert watched.wait(60)
        return stand_in.record(("<s>", "Linked", "</s>"), kind="encoder")

    answers.answer = answer
    monkeypatch.setattr(frame, "PATIENCE", 60.0)
    page = app("start", text="Linked text.", model="bert-base-uncased")
    assert not page.exception
    assert page.session_state[session.RUN] is None
    assert page.session_state[session.RECORD].source_text == "Linked"
    assert not page.get("progress")


def test_a_link_that_takes_long_is_followed_by_its_progress(
    app: App, answers: Answers, watched: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = threading.Event()

    def answer(ticket: Any, request: Any) -> Any:
        assert free.wait(60)
        return stand_in.record(kind="encoder")

    answers.answer = answer
    monkeypatch.setattr(frame, "PATIENCE", 0.0)
    page = app("inside", text="A long text.", model="bert-base-uncased")
    assert watched.is_set()
    assert not page.exception
    assert len(page.get("progress")) == 1
    assert not page.get("plotly_chart")
    free.set()
    page = settled(page).run()
    assert page.get("plotly_chart")
    assert not page.get("progress")


def test_the_last_picture_stays_while_a_visitors_own_text_runs(
    app: App, answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = threading.Event()

    def answer(ticket: Any, request: Any) -> Any:
        assert free.wait(60)
        return stand_in.record()

    answers.answer = answer
    page = app("inside")
    monkeypatch.setattr(session, "PATIENCE", 0.0)
    page = press(page, "Run")
    assert session.RUN in page.session_state
    assert page.get("plotly_chart")
    free.set()
    settled(page).run()
