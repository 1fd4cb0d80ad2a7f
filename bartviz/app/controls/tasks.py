"""Work besides the sidebar's run: a page starts a task by name, shows its progress, and gets its result.

Each visitor has at most one task of a name; each page uses its own names. Results are kept in the engine's size-limited
cache, so a repeated question is answered at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import streamlit as st

from bartviz.app import streamlit_internals
from bartviz.app.controls import show as page_parts
from bartviz.app.controls.progress import follow
from bartviz.app.state import session
from bartviz.errors import BudgetError, Cancelled, NotFetched, RecordError, SettingError, TextError
from bartviz.language import _
from bartviz.safety.size import size
from bartviz.serving import drawing_turns
from bartviz.serving.engine import Run, fetching

if TYPE_CHECKING:
    from bartviz.models.model import Model
    from bartviz.serving.gate import Ticket

T = TypeVar("T")
# Retrying the same question would fail the same way.
FINAL = (TextError, SettingError, RecordError, BudgetError, NotFetched)


@dataclass
class _Task:
    key: dict[str, object]
    run: Run[Any]
    again: Callable[[], None]  # begins it once more: a callback
    seen: bool = False  # whether a script run has already waited for it


def begin(name: str, model: str, key: Mapping[str, object], work: Callable[[Model, Ticket[T]], T]) -> None:
    """Start ``work(model, ticket)`` for this visitor and stop the earlier task of that name. Call it in a callback.

    ``model`` is a name as in the sidebar. ``key`` holds, as JSON values, everything else that the result depends on.
    ``work`` runs in the gate's thread and must not use Streamlit. It passes ``ticket.cancelled`` on, calls
    ``ticket.report(note, fraction)``, and returns something read-only, whose ``size`` is counted.
    """
    older: _Task | None = st.session_state.get(_session_key(name))
    owner = session.owner()
    whole = {"work": name} | dict(key)
    session.note(owner)
    with fetching(session.may_fetch(model)):
        run = session.engine().work(
            f"{owner} {name}", model, whole, work, size, alive=lambda: streamlit_internals.is_alive(owner)
        )
    again = partial(begin, name, model, key, work)
    # before stopping the older task: the script run may end at this line
    st.session_state[_session_key(name)] = _Task(dict(key), run, again)
    if older is not None:
        older.run.cancel()


def show(name: str, key: Mapping[str, object] | None = None) -> Any:
    """The result of the task, or None: then a line shows its progress, that it was stopped, or why it failed.

    With ``key``, a task that was started with another key is stopped and dropped.
    """
    task: _Task | None = st.session_state.get(_session_key(name))
    if task is None:
        return None
    if key is not None and task.key != dict(key):
        drop(name)
        return None
    with drawing_turns.aside():
        task.run.wait(0 if task.seen else session.PATIENCE)
    task.seen = True
    if not task.run.finished:
        follow(lambda: _running(name), key=f"cancel_{name}")
        return None
    error = task.run.error
    if isinstance(error, Cancelled):
        page_parts.note(_("Stopped."))
    elif error is not None:
        st.error(page_parts.plain(str(error)))
    if isinstance(error, NotFetched):
        offer(error, task.again, key=f"fetch_{name}")
    return task.run.result


def offer(error: NotFetched, then: Callable[[], None] = lambda: None, *, key: str) -> None:
    """A button that downloads a model that nobody has requested yet; ``then`` runs afterwards."""

    def fetch() -> None:
        session.ask_for(error.model)
        then()

    st.button(page_parts.plain(_("Download {name}", name=error.model)), key=key, type="primary", on_click=fetch)


def ask(
    name: str,
    model: str,
    key: Mapping[str, object],
    work: Callable[[Model, Ticket[T]], T],
    *,
    button: str | None = None,
) -> T | None:
    """The result of a task (arguments as in ``begin``), which is started here if needed; None until it is ready.

    With ``button``, the task starts when that is pressed; what then takes its place has the focus. A task that was
    stopped, or that failed for a reason other than its arguments, can be run again.
    """
    if button is None:
        return _asked(name, model, key, work, None)
    with page_parts.keeps_focus(f"task_{name}"):
        result = _asked(name, model, key, work, button)
        if result is not None:
            page_parts.spoken(_("The answer follows."))
    return result


def _asked(
    name: str, model: str, key: Mapping[str, object], work: Callable[[Model, Ticket[T]], T], button: str | None
) -> T | None:
    whole = {"of": model} | dict(key)
    question = (name, model, whole, work)
    if begun(name) != whole:
        if button is not None:
            drop(name)
            st.button(button, key=f"begin_{name}", type="primary", on_click=begin, args=question)
            return None
        begin(*question)
    result: T | None = show(name, whole)
    if result is None and _can_be_repeated(name):
        st.button(_("Run it again"), key=f"again_{name}", on_click=begin, args=question)
    return result


def _can_be_repeated(name: str) -> bool:
    task: _Task | None = st.session_state.get(_session_key(name))
    return task is not None and task.run.finished and not isinstance(task.run.error, FINAL)


def begun(name: str) -> dict[str, object] | None:
    """The key of the current or last task, or None."""
    task: _Task | None = st.session_state.get(_session_key(name))
    return None if task is None else dict(task.key)


def result(name: str, key: Mapping[str, object]) -> Any:
    """The result of the task that ``ask`` started with this whole key, if it is there; draws nothing."""
    task: _Task | None = st.session_state.get(_session_key(name))
    return task.run.result if task is not None and task.key == dict(key) and task.run.finished else None


def wait(name: str, seconds: float) -> Any:
    """The result of the task if it is there within so many seconds; draws nothing."""
    task: _Task | None = st.session_state.get(_session_key(name))
    if task is None:
        return None
    with drawing_turns.aside():
        task.run.wait(seconds)
    return task.run.result if task.run.finished else None


def drop(name: str) -> None:
    """Stop the task and drop its result."""
    task: _Task | None = st.session_state.pop(_session_key(name), None)
    if task is not None and not task.run.finished:
        task.run.cancel()


def _running(name: str) -> Run[Any] | None:
    task: _Task | None = st.session_state.get(_session_key(name))
    return None if task is None else task.run


def _session_key(name: str) -> str:
    return f"_task_{name}"
