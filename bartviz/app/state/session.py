"""A visitor's requests and their results. All of it lives in the session; nothing is shared.

A script run calls ``begin`` first, which collects the result of a run that has ended since. After that
``current_record`` is what every page shows: the record of the last successful run, else the saved one that the app
starts with.

Streamlit may end a script run at any access to its session state, when the browser has sent something new. So the
result of a run is stored before the run is dropped, and a request is dropped only after it was started: the next script
run repeats whatever was interrupted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from bartviz.app import streamlit_internals
from bartviz.app.state import upload_limits
from bartviz.app.streamlit_internals import UploadedFile
from bartviz.errors import BartvizError, Cancelled, without_stack
from bartviz.language import _
from bartviz.record.record import open_record
from bartviz.safety.size import size
from bartviz.serving import drawing_turns, first_record
from bartviz.serving.engine import Engine, Run, fetching
from bartviz.serving.limits import Limits, compute
from bartviz.serving.ray_serve import RayReplicas
from bartviz.serving.remote import RemoteEngine
from bartviz.serving.request import Request
from bartviz.text.clean import safe_name

if TYPE_CHECKING:
    from bartviz.corpus.atlas import Atlas
    from bartviz.record.record import Record

PATIENCE = 0.4  # seconds that a script run waits for a record before it draws a progress line instead

RECORD, RUN, ERROR, SEEN = "_record", "_run", "_error", "_seen"
ASKED, AGAIN = "_asked", "_again"  # the last request, and the one that was restarted
FRESH = "_fresh"  # whether the visit has just begun, without a link
LINKED = "_linked_request"  # the request of the link that the visit began with
NAMED = "_named_models"  # which the visitor has asked for
MOST_NOTED = 1000
_OWNERS: set[str] = set()  # sessions that have requested something


@st.cache_resource(show_spinner=False)
def engine() -> Engine:
    """The one engine of this process. Raises SettingError for a limit that makes no sense."""
    limits, address = Limits.read(), compute()
    upload_limits.begin(limits)
    return RemoteEngine(limits, RayReplicas(address), close_left) if address else Engine(limits, close_left)


def owner() -> str:
    """The name of this visitor's session."""
    return streamlit_internals.session_id() or "nobody"


def may_fetch(model: str) -> bool:
    """Whether this visitor has asked for that model, so that it may be downloaded. Opening an address, or a record that
    names a model, asks for nothing."""
    return model in st.session_state.get(NAMED, ())


def ask_for(model: str | None) -> None:
    """The visitor asks for a model: by choosing or typing its name, or by the button that offers its download."""
    if model:
        st.session_state[NAMED] = {*st.session_state.get(NAMED, ()), model}


def note(owner: str) -> None:
    """Remember that a session holds results; Streamlit keeps at most 128 disconnected sessions."""
    if len(_OWNERS) > MOST_NOTED:
        _OWNERS.intersection_update({other for other in _OWNERS if streamlit_internals.is_alive(other)})
    _OWNERS.add(owner)


def release(file: UploadedFile) -> None:
    """Delete an uploaded file of this visitor after its content was read."""
    upload_limits.release(owner(), file)


def opened(file: UploadedFile) -> Record:
    """The record in an uploaded file, which is deleted; it counts among the records of all. Raises RecordError."""
    record = open_record(file.getvalue())
    release(file)
    note(owner())
    engine().results.count(record, record.nbytes)
    return record


def opened_atlas(file: UploadedFile) -> Atlas:
    """The atlas in an uploaded file, which is deleted; it counts among the results of all. Raises SettingError."""
    from bartviz.corpus import one_file  # with pandas, which the first picture does without

    atlas = one_file.unpack(file.getvalue(), safe_name(file.name))
    release(file)
    note(owner())
    engine().results.count(atlas, size(atlas.held))
    return atlas


def show(record: Record | None) -> None:
    """Show a record that was opened, or the one before, instead of the last run's, which is stopped if it is in
    progress."""
    run = running()
    if run is not None:
        run.cancel()
    st.session_state.update({RECORD: record, RUN: None, ERROR: None, ASKED: None, FRESH: False})


def close_left() -> None:
    """Close the sessions that visitors have left: Streamlit keeps them, and all that they hold, for a while.

    A visitor who comes back to a closed session gets a new one, in which the sidebar runs the text again.
    """
    for owner in list(_OWNERS):
        if not streamlit_internals.is_alive(owner):
            _OWNERS.discard(owner)
            streamlit_internals.close(owner)


def begin() -> None:
    """Collect the result of a run that has ended; wait a moment for one that has just been started."""
    if ERROR not in st.session_state:
        st.session_state[ERROR] = first_record.error()
    run = running()
    if run is not None and _ended(run, 0 if run is st.session_state.get(SEEN) else PATIENCE):
        _collect(run)
    st.session_state[SEEN] = running()


def _ended(run: Run[Record], seconds: float) -> bool:
    if run.finished or not seconds:
        return run.finished
    with drawing_turns.aside():
        return run.wait(seconds)


def awaits_link() -> bool:
    """Whether the run requested by this visit's link is in progress and the visitor has no record yet."""
    asked = st.session_state.get(ASKED)
    linked = asked is not None and asked is st.session_state.get(LINKED)
    return linked and running() is not None and st.session_state.get(RECORD) is None


def came_back() -> bool:
    """Whether a new visit begins with a text that the browser kept: its earlier session was closed."""
    state = st.session_state
    if state.get(FRESH) and (state["text"] or "") == state["_source"]:
        state[FRESH] = False
    return bool(state.get(FRESH))


def submit(request: Request) -> None:
    """Start a request and stop the session's current run. The old record stays until the new one is ready."""
    session = owner()
    older = running()
    if older is not None:
        older.cancel()
    st.session_state[ERROR] = None
    st.session_state[ASKED] = request
    note(session)
    with fetching(may_fetch(request.model)):
        st.session_state[RUN] = engine().start(session, request, alive=lambda: streamlit_internals.is_alive(session))
    st.session_state[FRESH] = False


def refuse(error: BartvizError) -> None:
    """Show the visitor why no run was started."""
    st.session_state[FRESH] = False
    st.session_state[ERROR] = without_stack(error)


def running() -> Run[Record] | None:
    """The run in progress, if any."""
    run: Run[Record] | None = st.session_state.get(RUN)
    return run


def error() -> BartvizError | None:
    """The error of the last request, until the next request or ``forgive``."""
    held: BartvizError | None = st.session_state.get(ERROR)
    return held


def forgive() -> None:
    """Dismiss the error and go back to the last record."""
    st.session_state[ERROR] = None


def current_record() -> Record | None:
    """The record that the pages show: of the last successful run, else the saved one, else None."""
    record: Record | None = st.session_state.get(RECORD)
    return record or first_record.record()


def _collect(run: Run[Record]) -> None:
    if run.result is not None:
        st.session_state[RECORD] = run.result
        st.session_state[RUN] = None
        run.forget()
        return
    if not isinstance(run.error, Cancelled):
        st.session_state[ERROR] = run.error
    elif not run.stopped.is_set() and _restarted():
        return
    st.session_state[RUN] = None


def _restarted() -> bool:
    """Restart, once, a run that nobody stopped: it ended because the browser lost its connection for a while."""
    request: Request | None = st.session_state.get(ASKED)
    if request is None or st.session_state.get(AGAIN) is request:
        st.session_state[ERROR] = BartvizError(_("The run was stopped while the connection was lost. Press Run again."))
        return False
    st.session_state[AGAIN] = request
    submit(request)
    return True
