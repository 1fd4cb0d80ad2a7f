"""A click is handled, whatever other messages arrive at the same time; an outdated run is still interrupted."""

from __future__ import annotations

import pytest
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext
from streamlit.testing.v1 import AppTest


def script() -> None:
    import streamlit as st
    from streamlit.runtime.scriptrunner import get_script_run_ctx
    from streamlit.runtime.scriptrunner_utils.script_requests import RerunData

    from bartviz.ui.state import clicks

    clicks.keep()

    def newer() -> None:
        """The browser says something else."""
        context = get_script_run_ctx()
        assert context is not None
        assert context.script_requests is not None
        context.script_requests.request_rerun(RerunData())

    def press(name: str) -> None:
        if name == "second":
            newer()
        st.query_params["seen"] = name  # sends a message, reads the session: Streamlit would look for newer ones twice
        st.session_state["pressed"] = [*st.session_state.get("pressed", []), name]

    st.session_state["begun"] = st.session_state.get("begun", 0) + 1
    for name in ("first", "second"):
        st.button(name, on_click=press, args=(name,))
    if st.session_state.get("pressed") and st.session_state["begun"] == 2:
        newer()
    st.write("drawn")
    st.session_state["ended"] = st.session_state.get("ended", 0) + 1


def test_a_message_that_comes_while_a_click_is_being_done_does_not_undo_it() -> None:
    page = AppTest.from_function(script, default_timeout=120).run()
    page.button[1].click().run()
    assert page.session_state["pressed"] == ["second"]


def test_a_message_that_comes_before_a_click_is_done_does_not_undo_it(monkeypatch: pytest.MonkeyPatch) -> None:
    page = AppTest.from_function(script, default_timeout=120).run()
    begin, messages = ScriptRunContext.reset, [RerunData()]

    def reset(context: ScriptRunContext, *args: object, **options: object) -> None:
        begin(context, *args, **options)  # type: ignore[arg-type]
        if messages and context.script_requests is not None:
            context.script_requests.request_rerun(messages.pop())

    monkeypatch.setattr(ScriptRunContext, "reset", reset)
    page.button[0].click().run()
    assert not messages
    assert page.session_state["pressed"] == ["first"]


def test_a_run_is_interrupted_for_a_newer_message_after_its_clicks_are_handled() -> None:
    page = AppTest.from_function(script, default_timeout=120).run()
    page.button[0].click().run()  # its run is the second one: a message comes in the middle of it
    assert (page.session_state["begun"], page.session_state["ended"]) == (3, 2)
    assert page.session_state["pressed"] == ["first"]
