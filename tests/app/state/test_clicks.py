"""A click is handled, whatever other messages arrive at the same time; an outdated run is still interrupted."""

from __future__ import annotations

import pytest
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext
from streamlit.testing.v1 import AppTest

from bartviz.app.state import clicks


def script() -> None:
    import streamlit as st
    from streamlit.runtime.scriptrunner import get_script_run_ctx
    from streamlit.runtime.scriptrunner_utils.script_requests import RerunData

    from bartviz.app.state import clicks

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


def chooser() -> None:
    import streamlit as st
    from streamlit.proto.WidgetStates_pb2 import WidgetStates
    from streamlit.runtime.scriptrunner import get_script_run_ctx
    from streamlit.runtime.scriptrunner_utils.script_requests import RerunData

    from bartviz.app.state import clicks

    clicks.keep()
    context = get_script_run_ctx()
    assert context is not None
    assert context.script_requests is not None

    def less() -> None:
        st.session_state["level"] = "intermediate"
        st.session_state["message"] = st.session_state["when"]

    def send(when: str) -> None:
        """The browser sends the values that it has seen."""
        if st.session_state.get("message") == when:
            st.session_state["message"] = ""
            assert context.script_requests is not None
            context.script_requests.request_rerun(RerunData(widget_states=st.session_state["seen"]))

    send("before it is drawn")
    st.radio("level", ["beginner", "intermediate", "expert"], index=2, key="level")
    send("after it is drawn")
    st.button("less", on_click=less)
    st.session_state.setdefault("seen", WidgetStates(widgets=context.session_state.get_widget_states()))


@pytest.mark.parametrize("when", ["before it is drawn", "after it is drawn"])
def test_what_a_click_sets_is_not_undone_by_a_browser_that_has_not_seen_it(when: str) -> None:
    page = AppTest.from_function(chooser, default_timeout=120)
    page.session_state["when"] = when
    page.run().button[0].click().run()
    assert page.session_state["message"] == ""  # it was sent
    assert page.radio[0].value == "intermediate"


def test_a_choice_made_after_the_browser_has_seen_what_a_click_set_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    page = AppTest.from_function(chooser, default_timeout=120)
    page.session_state["when"] = ""
    page.run().button[0].click().run()
    assert page.radio[0].value == "intermediate"
    page.radio[0].set_value("beginner").run()
    assert page.radio[0].value == "beginner"
    page.button[0].click().run()
    monkeypatch.setattr(clicks, "LAG", 0.0)
    page.radio[0].set_value("beginner").run()  # back to what it was before the click
    assert page.radio[0].value == "beginner"
