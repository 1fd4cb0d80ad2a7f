"""Work beside the sidebar's run: a page asks for it by a name, shows how far it is, and gets what came of it.

One task of a name per visitor; each page names its own. Results are kept in the engine's byte-bounded cache, so the
same question asked twice is answered at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import streamlit as st

from bartviz.errors import BudgetError, Cancelled, RecordError, SettingError, TextError
from bartviz.language import _
from bartviz.serving import turns
from bartviz.serving.engine import Run
from bartviz.ui.controls import show as page_parts
from bartviz.ui.controls.progress import follow
from bartviz.ui.state import session

if TYPE_CHECKING:
    from bartviz.models.model import Model
    from bartviz.serving.gate import Ticket

T = TypeVar("T")
FINAL = (TextError, SettingError, RecordError, BudgetError)  # the same question would fail in the same way


@dataclass
class _Task:
    key: dict[str, object]
    run: Run[Any]
    seen: bool = False  # whether a script run has waited for it already


def begin(
    name: str, model: str, key: Mapping[str, object], work: Callable[[Model, Ticket[T]], T], size: Callable[[T], int]
) -> None:
    """Start ``work(model, ticket)`` for this visitor, whose earlier task of the same name is stopped: in a callback.

    ``model`` is a name as in the sidebar. ``key`` holds, as JSON values, all that the result depends on besides the
    model; ``size`` gives the result's bytes. ``work`` runs in the gate's thread: no Streamlit in it. It passes
    ``ticket.cancelled`` on, calls ``ticket.report(note, fraction)``, and returns something read-only.
    """
    older: _Task | None = st.session_state.get(_place(name))
    owner = session.owner()
    whole = {"work": name} | dict(key)
    session.note(owner)
    run = session.engine().work(f"{owner} {name}", model, whole, work, size, alive=lambda: session.is_alive(owner))
    st.session_state[_place(name)] = _Task(dict(key), run)  # before the older one is stopped: this line may break off
    if older is not None:
        older.run.cancel()


def show(name: str, key: Mapping[str, object] | None = None) -> Any:
    """The result of the task, or None: then a line says how far it is, that it was stopped, or why it failed.

    With ``key``, a task that was begun for something else is stopped and forgotten.
    """
    task: _Task | None = st.session_state.get(_place(name))
    if task is None:
        return None
    if key is not None and task.key != dict(key):
        drop(name)
        return None
    with turns.aside():
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
    return task.run.result


def ask(
    name: str,
    model: str,
    key: Mapping[str, object],
    work: Callable[[Model, Ticket[T]], T],
    size: Callable[[T], int],
    *,
    button: str | None = None,
) -> T | None:
    """The answer to a question (as in ``begin``), asked here if nobody has; None while it is not there.

    With ``button`` it waits until that is pressed. What was stopped, or failed without a fault of the question's own,
    can be asked again.
    """
    whole = {"of": model} | dict(key)
    question = (name, model, whole, work, size)
    if begun(name) != whole:
        if button is not None:
            drop(name)
            st.button(button, key=f"begin_{name}", type="primary", on_click=begin, args=question)
            return None
        begin(*question)
    found: T | None = show(name, whole)
    if found is None and _can_be_repeated(name):
        st.button(_("Run it again"), key=f"again_{name}", on_click=begin, args=question)
    return found


def _can_be_repeated(name: str) -> bool:
    task: _Task | None = st.session_state.get(_place(name))
    return task is not None and task.run.finished and not isinstance(task.run.error, FINAL)


def begun(name: str) -> dict[str, object] | None:
    """The key of the task that runs or has ended, or None where there is none."""
    task: _Task | None = st.session_state.get(_place(name))
    return None if task is None else dict(task.key)


def drop(name: str) -> None:
    """Stop the task and forget what came of it."""
    task: _Task | None = st.session_state.pop(_place(name), None)
    if task is not None and not task.run.finished:
        task.run.cancel()


def _running(name: str) -> Run[Any] | None:
    task: _Task | None = st.session_state.get(_place(name))
    return None if task is None else task.run


def _place(name: str) -> str:
    return f"_task_{name}"
