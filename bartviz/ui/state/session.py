"""What this visitor asked for and what came of it. Lives in the session alone; nothing of it is shared.

A script run calls ``begin`` first: it takes in what a run has brought since the last one. Then ``current_record`` is
what every page shows: the record of the last run that ended well, else the saved one that the app starts with.

Streamlit may end a script run at any access of its session state, when the browser has sent something new. So what a
run has brought is put away before the run is forgotten, and a wish is forgotten only after it was started: the next
script run does again what was broken off.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

import streamlit as st
from streamlit.runtime import get_instance
from streamlit.runtime.scriptrunner import get_script_run_ctx

from bartviz.errors import BartvizError, Cancelled, without_stack
from bartviz.language import _
from bartviz.serving import first_record, turns
from bartviz.serving.engine import Engine, Request, Run
from bartviz.serving.limits import Limits
from bartviz.ui.state import uploads

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

    from bartviz.record.record import Record

T = TypeVar("T")
PATIENCE = 0.4  # seconds that a script run waits for a record before it draws a progress line instead

RECORD, RUN, ERROR, SEEN = "_record", "_run", "_error", "_seen"
ASKED, AGAIN = "_asked", "_again"  # the last request, and the one that was begun again
FRESH = "_fresh"  # whether the visit has just begun, and with no link
LINKED = "_linked_request"  # that of the link with which the visit began
MOST_NOTED = 1000
_OWNERS: set[str] = set()  # the sessions that have asked for something


@st.cache_resource(show_spinner=False)
def engine() -> Engine:
    """The one engine of this process. Raises SettingError for a limit that makes no sense."""
    limits = Limits.read()
    uploads.begin(limits, is_alive)
    return Engine(limits, close_left)


def owner() -> str:
    """The name of this visitor's session."""
    context = get_script_run_ctx()
    return context.session_id if context is not None else "nobody"


def is_alive(owner: str) -> bool:
    """Whether that session is still there. One whose connection broke may come back: ``_take`` then begins again."""
    return get_instance().is_active_session(owner)


def note(owner: str) -> None:
    """Remember that a session holds results; of those that were left Streamlit keeps at most 128."""
    if len(_OWNERS) > MOST_NOTED:
        _OWNERS.intersection_update({one for one in _OWNERS if is_alive(one)})
    _OWNERS.add(owner)


def release(file: UploadedFile) -> None:
    """Forget a file of this visitor, whose content has been taken."""
    uploads.release(owner(), file)


def close_left() -> None:
    """Close the sessions that visitors have left: Streamlit keeps them for a while, with all that they hold.

    Who comes back to one that was closed begins a new one, in which the sidebar runs the text again.
    """
    runtime: Any = get_instance()
    for owner in list(_OWNERS):
        if not is_alive(owner):
            _OWNERS.discard(owner)
            runtime._get_async_objs().eventloop.call_soon_threadsafe(_close, owner)


def _close(owner: str) -> None:
    runtime: Any = get_instance()
    if is_alive(owner):  # has come back meanwhile
        return
    left = runtime._session_mgr.get_session_info(owner)
    if left is not None:
        left.session.session_state.clear()  # at once: a session hangs in cycles
        runtime.close_session(owner)
    else:  # one whose time is over is not found, and kept until somebody else leaves
        with suppress(KeyError):
            runtime._session_mgr._session_storage.delete(owner)


def begin() -> None:
    """Take in the outcome of a run that has ended; wait a moment for one that has just been asked for."""
    if ERROR not in st.session_state:
        st.session_state[ERROR] = first_record.error()
    run = running()
    if run is not None and _ended(run, 0 if run is st.session_state.get(SEEN) else PATIENCE):
        _take(run)
    st.session_state[SEEN] = running()


def _ended(run: Run[Record], seconds: float) -> bool:
    if run.finished or not seconds:
        return run.finished
    with turns.aside():
        return run.wait(seconds)


def awaits_link() -> bool:
    """Whether the run that this visit's link asked for is on its way, and nothing of the visitor's own is there yet."""
    asked = st.session_state.get(ASKED)
    linked = asked is not None and asked is st.session_state.get(LINKED)
    return linked and running() is not None and st.session_state.get(RECORD) is None


def came_back() -> bool:
    """Whether the browser brings a text of its own to a visit that has just begun: its earlier one was closed."""
    state = st.session_state
    if state.get(FRESH) and (state["text"] or "") == state["_source"]:
        state[FRESH] = False
    return bool(state.get(FRESH))


def submit(request: Request) -> None:
    """Start a request; the one that runs for this session is stopped. The record stays until the new one is there."""
    mine = owner()
    older = running()
    if older is not None:
        older.cancel()
    st.session_state[ERROR] = None
    st.session_state[ASKED] = request
    note(mine)
    st.session_state[RUN] = engine().start(mine, request, alive=lambda: is_alive(mine))
    st.session_state[FRESH] = False


def refuse(error: BartvizError) -> None:
    """Tell the visitor why nothing was started."""
    st.session_state[FRESH] = False
    st.session_state[ERROR] = without_stack(error)


def running() -> Run[Record] | None:
    """The run that is on its way, if any."""
    run: Run[Record] | None = st.session_state.get(RUN)
    return run


def error() -> BartvizError | None:
    """Why the last request brought no record, until the next request or ``forgive``."""
    told: BartvizError | None = st.session_state.get(ERROR)
    return told


def forgive() -> None:
    """Go back to the last record."""
    st.session_state[ERROR] = None


def current_record() -> Record | None:
    """The record that the pages show: of the last run that ended well, else the saved one, else None."""
    record: Record | None = st.session_state.get(RECORD)
    return record or first_record.record()


def _take(run: Run[Record]) -> None:
    if run.result is not None:
        st.session_state[RECORD] = run.result
        st.session_state[RUN] = None
        run.forget()
        return
    if not isinstance(run.error, Cancelled):
        st.session_state[ERROR] = run.error
    elif not run.stopped.is_set() and _begun_again():
        return
    st.session_state[RUN] = None


def _begun_again() -> bool:
    """Begin a run anew that nobody stopped, once: it ended because the browser's connection was away for a while."""
    request: Request | None = st.session_state.get(ASKED)
    if request is None or st.session_state.get(AGAIN) is request:
        st.session_state[ERROR] = BartvizError(_("The run was stopped while the connection was lost. Press Run again."))
        return False
    st.session_state[AGAIN] = request
    submit(request)
    return True
