"""Where a visitor is in which lesson: one object in the session, and the words ``lesson`` and ``at`` of the address.

A script run calls ``prepare`` before any widget is drawn: there the view of a new step is set, on the page that it
names. It is set again by every run until one of them has ended (``drawn``): the browser may break a run off, and what
it had sent by then would otherwise win over the step. For the same reason every callback names what it leads to and
none turns something over: it may be run again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from bartviz.serving import first_record
from bartviz.teaching.lessons import records
from bartviz.teaching.lessons.course import LESSONS
from bartviz.teaching.lessons.lesson import ADDRESS, Lesson, Step
from bartviz.ui.controls import large_type
from bartviz.ui.frame import sitemap
from bartviz.ui.state import address, session

if TYPE_CHECKING:
    from bartviz.record.record import Record

LESSON, AT, CATALOGUE = "lesson", "at", "lessons"
BY_WORD: Mapping[str, Lesson] = {lesson.word: lesson for lesson in LESSONS}
_WALK, _PLAYER, _ECHO = "_walk", "_player_place", "_echo"
FRAME = ("lang", "level")  # words of the address that are no page's own
_KEPT = ("model", "text", "pair", "target", "special")


@dataclass(frozen=True)
class _Before:
    """What the visitor had before the lesson: their record, if any, and the sidebar's controls."""

    record: Record | None
    controls: Mapping[str, object]


@dataclass
class Walk:
    """The one object of the session. ``at`` counts from 0; ``reached`` is how many steps of a lesson were seen."""

    lesson: Lesson | None = None
    at: int = 0
    shown: bool = False  # the answer
    due: bool = False  # the view of the step is still to be set
    to: str = ""  # the page that the visitor is led to, where it is not that of a step
    reached: dict[str, int] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)  # where one left off
    before: _Before | None = None

    @property
    def step(self) -> Step | None:
        return self.lesson.steps[self.at] if self.lesson is not None else None

    def go(self, lesson: Lesson, at: int) -> None:
        """Stand at a step of a lesson, which is clamped to those that there are."""
        at = min(max(at, 0), len(lesson.steps) - 1)
        self.shown = False
        self.lesson, self.at = lesson, at
        self.due = True
        self.places[lesson.word] = at
        self.reached[lesson.word] = max(self.reached.get(lesson.word, 0), at + 1)


def current() -> Walk:
    """The visitor's walk; one is begun, at the place that the address names, where there is none."""
    walk: Walk | None = st.session_state.get(_WALK)
    if walk is None:
        walk = Walk()
        _follow(walk)
        st.session_state[_WALK] = walk
    return walk


def prepare(page: str) -> None:
    """Before any widget: set the view of a step that is new, on its page, and say it in the address."""
    large_type.begin()
    walk = current()
    context = get_script_run_ctx()
    if context is not None and context.is_history_navigation:
        _back(walk)
    if walk.to:
        if page != walk.to:
            st.switch_page(sitemap.page(walk.to).file, query_params=_frame())
        walk.to = ""
    step = walk.step
    if walk.due and step is not None:
        if page != step.page or _contradicted(step):
            st.switch_page(sitemap.page(step.page).file, query_params={**_frame(), **_address(walk)})
        _set(walk, step)
    _say(walk)


def drawn() -> None:
    """A script run has come to its end, so that all it set has been sent."""
    walk: Walk | None = st.session_state.get(_WALK)
    if walk is not None:
        walk.due = False


def start(word: str, at: int) -> None:
    """Begin a lesson, or go on with it, at a step: a callback."""
    walk = current()
    _keep(walk)
    walk.go(BY_WORD[word], at)


def go_to(at: int) -> None:
    """Stand at a step of the lesson that runs; behind its last one the lesson is over: a callback."""
    walk = current()
    if walk.lesson is None:
        return
    if at >= len(walk.lesson.steps):
        walk.to = CATALOGUE
        walk.places[walk.lesson.word] = 0
        leave()
    else:
        walk.go(walk.lesson, at)


def reveal(shown: bool) -> None:
    """Show the answer, or hide it again: a callback."""
    current().shown = shown


def again() -> None:
    """Set the view of the step once more: a callback."""
    current().due = True


def leave() -> None:
    """End the lesson where one is; what the visitor had before is there again: a callback."""
    walk = current()
    before = walk.before
    shown = st.session_state.get(session.RECORD)
    if before is not None and any(shown is records.read(name) for name in records.NAMES):
        _put(before.record, before.controls)
    walk.before = None
    walk.lesson, walk.due, walk.shown = None, False, False


def _keep(walk: Walk) -> None:
    """Remember what the visitor has, before a lesson shows something else."""
    if walk.before is None:
        kept = {key: st.session_state[key] for key in _KEPT if key in st.session_state}
        walk.before = _Before(st.session_state.get(session.RECORD), kept)


def _back(walk: Walk) -> None:
    """The browser's Back or Forward: to the step that the address names, with the whole of its view; or out of it."""
    if st.query_params.get(LESSON, "") not in BY_WORD:
        if walk.lesson is not None:
            leave()
        return
    _keep(walk)
    _follow(walk)
    st.rerun()  # what the browser went back to wins in this run over all that is set


def _follow(walk: Walk) -> bool:
    """Go where the address says; False where it names no lesson."""
    lesson = BY_WORD.get(st.query_params.get(LESSON, ""))
    if lesson is None:
        return False
    at = st.query_params.get(AT, "1")
    walk.go(lesson, int(at) - 1 if at.isdecimal() and len(at) < 4 else 0)
    return True


def _address(walk: Walk) -> dict[str, str]:
    return {LESSON: walk.lesson.word, AT: str(walk.at + 1)} if walk.lesson is not None else {}


def _frame() -> dict[str, str]:
    return {key: st.query_params[key] for key in FRAME if key in st.query_params}


def _say(walk: Walk) -> None:
    """Let the address name the step, in one message; nothing is sent where it does already."""
    context, wanted = get_script_run_ctx(), _address(walk)
    if context is None or {key: st.query_params[key] for key in (LESSON, AT) if key in st.query_params} == wanted:
        return
    with context.session_state.query_params() as query:
        for key in (LESSON, AT):
            query.discard_param_no_forward_msg(key)
            if key in wanted:
                query.set_with_no_forward_msg(key, wanted[key])
        query._send_query_param_msg()  # as ``st.query_params`` does, which can only write one change after the other


def _contradicted(step: Step) -> bool:
    """Whether the address holds something else than the step wants.

    A widget that is drawn anew (a slider whose end has changed is) believes the address more than the session.
    """
    given = {key: st.query_params[key].lower() for key in step.whole if key in st.query_params}
    spoken = ADDRESS.get(step.page, ())
    return any(value != str(step.whole[key]).lower() for key, value in given.items() if key not in spoken)


def _set(walk: Walk, step: Step) -> None:
    """The record, the sidebar's controls and the pickers of the page, all as the step wants them."""
    record = records.read(step.record)
    if walk.before is None:  # a link: there was nothing before
        walk.before = _Before(None, _first())
    _put(record, records.controls(step.record))
    spoken, choices = ADDRESS.get(step.page, ()), address.address().choices
    for key, value in step.whole.items():
        if key not in spoken:
            choices.pop(key, None)  # what was chosen on earlier pages does not carry over to a step
            st.session_state[key] = value
        elif st.query_params.get(key) != str(value):
            st.query_params[key] = str(value)
    if step.page == "decoding":
        st.session_state.pop(_PLAYER, None)


def _first() -> dict[str, object]:
    """The controls of the record that the app starts with; a link to a lesson begins the visit in their place."""
    first = first_record.record()
    text = first.source_text if first is not None else ""
    st.session_state["_linked"] = st.session_state["_link"] = False
    st.session_state["_source"] = text
    model = {} if first is None else {"model": first.model.name}
    return {**model, "text": text, "pair": "", "target": "", "special": False}


def _put(record: Record | None, controls: Mapping[str, object]) -> None:
    """Show a record, with the controls that belong to it; what runs for this visitor is stopped."""
    run = session.running()
    if run is not None:
        run.cancel()
    st.session_state[session.RUN] = None
    st.session_state[session.ERROR] = None
    st.session_state[session.RECORD] = record
    st.session_state[_ECHO] = {}
    for key, value in controls.items():
        st.session_state[key] = value
