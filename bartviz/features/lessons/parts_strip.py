"""The strip above every page during a lesson: the step, what to look at, the question, the answer."""

from __future__ import annotations

import html
from pathlib import Path

import streamlit as st

from bartviz.app.components.invisible import unseen
from bartviz.app.controls import large_type
from bartviz.app.frame import page_list
from bartviz.features.lessons import parts_lesson_state as state
from bartviz.features.lessons import parts_progress as progress
from bartviz.features.lessons.lesson import Lesson, Step
from bartviz.language import _
from bartviz.serving import saved_records as records

_HERE = Path(__file__).parent
_KEYS = unseen("lessons", progress.SCRIPTS / "lessons.js")
# Until the answer is asked for, the page does not say it either. On a phone the picture takes the sentence's place.
_QUIET = (
    "<style>:root .st-key-lesson_quiet { display: none; } :root .bv-lead { visibility: hidden; } "
    ":root .st-key-player { --bv-said: hidden; } "
    "@media (max-width: 760px) { :root .bv-lead { display: none; } "
    ":root :is(.st-key-lead, .st-key-compare_lead, .st-key-inside_lead, .st-key-start_lead) { min-height: 0; } }"
    "</style>"
)
NEXT, BACK, ANSWER = "N", "B", "A"


def strip(page: str) -> None:
    """Draw the strip if a lesson is running; on a page other than that of the step it offers a link back."""
    now = state.current()
    lesson, step = now.lesson, now.step
    if lesson is None or step is None:
        return
    st.html(_HERE / "strip.css")
    with st.container(key="lesson", border=True, gap="xsmall"):
        _controls(lesson, now.at, now.shown)
        if page == step.page:
            st.html(_step_html(lesson, now.at, shown=now.shown))
            if not now.shown:
                with st.container(key="lesson_quiet"):
                    st.html(_QUIET)
        else:
            _off_page(step)
    with st.container(key="lesson_keys"):
        data = {
            "step": f"{lesson.word} {now.at + 1}",
            "part": step.part if page == step.page else "",
            "below": bool(step.focus),
            "seen": progress.kept(now),
        }
        _KEYS(key="lesson_script", data=data)


def _controls(lesson: Lesson, at: int, shown: bool) -> None:
    """The current step, and the buttons, labelled with their keys."""
    last = at == len(lesson.steps) - 1
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="lesson_controls"):
        st.html(_position(lesson, at), width="stretch")
        st.button(
            f"{_('Hide the answer') if shown else _('Show the answer')} `{ANSWER}`",
            key="lesson_answer",
            on_click=state.reveal,
            args=(not shown,),
            type="tertiary" if shown else "secondary",
        )
        st.button(f"{_('Back')} `{BACK}`", key="lesson_back", on_click=state.go_to, args=(at - 1,), disabled=at == 0)
        st.button(
            f"{_('Finish') if last else _('Next')} `{NEXT}`",
            key="lesson_next",
            on_click=state.go_to,
            args=(at + 1,),
            type="primary",
        )
        st.button(
            "",
            icon=":material/restart_alt:",
            key="lesson_again",
            on_click=state.again,
            type="tertiary",
            help=_("Set the view of this step again"),
        )
        large_type.button()
        st.button(
            "",
            icon=":material/close:",
            key="lesson_leave",
            on_click=state.leave,
            type="tertiary",
            help=_("Leave the lesson; your own text comes back"),
        )


def _position(lesson: Lesson, at: int) -> str:
    """The lesson's name, the step, and a dot for each step."""
    count = len(lesson.steps)
    dots = "".join(f"<i{' class=bv-now' if n == at else ' class=bv-seen' if n < at else ''}></i>" for n in range(count))
    message = _("Step {step} of {count}", step=at + 1, count=count)
    return (
        f"<p class='bv-lesson-place'><b>{html.escape(lesson.title)}</b> <span class='bv-lesson-step'>"
        f"{html.escape(message)}</span> <span class='bv-dots' aria-hidden='true'>{dots}</span></p>"
    )


def _step_html(lesson: Lesson, at: int, *, shown: bool) -> str:
    """Left: what to look at, and the question. Right: the answer, whose space is reserved from the start."""
    texts = lesson.texts(at, records.read(lesson.steps[at].record))
    see, ask, answer = (html.escape(text) for text in (texts.see, texts.ask, texts.answer))
    right = f"<b>{html.escape(_('Answer'))}</b> {answer}" if shown else html.escape(_("Think first, then look."))
    return (
        f"<div class='bv-lesson'><div><p class='bv-see'>{see}</p><p class='bv-ask'>{ask}</p></div>"
        f"<p class='bv-answer{'' if shown else ' bv-closed'}' aria-live='polite'>{right}</p></div>"
    )


def _off_page(step: Step) -> None:
    label = _(page_list.page(step.page).label)
    with st.container(horizontal=True, vertical_alignment="center", key="lesson_astray"):
        st.html(f"<p class='bv-note'>{html.escape(_('This step is on the page {page}.', page=label))}</p>")
        st.button(_("Back to the step"), key="lesson_return", on_click=state.again, type="primary")
