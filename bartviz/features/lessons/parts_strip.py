"""The strip above every page during a lesson: the step, what to look at, the question, the answer."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Collection, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

import streamlit as st

from bartviz.app import streamlit_internals
from bartviz.app.components.invisible import unseen
from bartviz.app.controls import large_type, show
from bartviz.app.frame import page_hooks, page_list
from bartviz.features.lessons import parts_lesson_state as state
from bartviz.features.lessons import parts_painting as painting
from bartviz.features.lessons import parts_progress as progress
from bartviz.features.lessons.answers import OTHER_HEAD, OTHER_SIDE, UNPAINTED, Choice, Number, Painted, Touch
from bartviz.features.lessons.lesson import Lesson, Reply, Step
from bartviz.features.lessons.texts import StepTexts
from bartviz.language import _, mark
from bartviz.record import store
from bartviz.record.record import ENDING

_HERE = Path(__file__).parent
_KEYS = unseen("lessons", progress.SCRIPTS / "lessons.js")
# Until the answer is asked for, the page does not say it either.
_QUIET = (
    "<style>:root .st-key-lesson_quiet { display: none; } :root .bv-lead { visibility: hidden; } "
    ":root :is(.st-key-player, .st-key-ribbons, [class*='st-key-canvas_']) { --bv-said: hidden; }</style>"
)
_QUOTED = re.compile(r"(?<=“)([^“”]+)(?=”)")
NEXT, BACK, ANSWER = "N", "B", "A"
_ALONE = (_HERE / "alone.css").read_text("utf-8").join(("<style>", "</style>"))
# What is said of a touch that is no answer.
_ASIDE = {
    OTHER_HEAD: mark("The picture shows another head than that of this step: ↻ brings it back."),
    UNPAINTED: mark("Nothing is painted yet."),
    OTHER_SIDE: mark("This is not one of the things that the question is about: read it once more."),
}


def strip(page: str) -> None:
    """Draw the strip if a lesson is running; on a page other than that of the step it offers a link back."""
    now = state.current()
    lesson, step = now.lesson, now.step
    if lesson is None or step is None:
        return
    st.html(_HERE / "strip.css")
    with st.container(key="lesson", border=True, gap="xsmall"):
        _controls(lesson, now)
        if page == step.page:
            st.fragment(_asked)(lesson, now.at)
        else:
            _off_page(step)
            _listen("", asks="", said=" ".join(now.said_of_passed))
    if page == step.page:
        with st.container(key="lesson_framed" if now.framed else "lesson_alone"):
            st.html(large_type.MENU if now.framed else _ALONE)


def _listen(part: str, *, asks: str, said: str) -> None:
    """The script of the strip: keys, what is scrolled to, what is touched in the picture, and what is read aloud."""
    now = state.current()
    assert now.lesson is not None
    assert now.step is not None
    with st.container(key="lesson_keys"):
        data = {
            "step": f"{now.lesson.word} {now.at + 1}",
            "page": now.step.page,
            "part": part,
            "below": bool(now.step.focus),
            "asks": asks,
            "said": said,
            "seen": progress.kept(now),
        }
        _KEYS(key="lesson_script", data=data, on_touch_change=_touched)


def _touched() -> None:
    said = st.session_state["lesson_script"].get("touch")
    if isinstance(said, Mapping):
        state.answer(said)


def _asked(lesson: Lesson, at: int) -> None:
    """What a step says and asks, and what answers it: a fragment, so that an answer is judged at once."""
    now = state.current()
    if now.told or now.lesson is not lesson or now.at != at:
        now.told = False
        if streamlit_internals.in_fragment():
            st.rerun()
    step = lesson.steps[at]
    texts = lesson.texts(at, now.record)
    verdict = _verdict(texts, now)
    with st.container(key="lesson_step", gap=None):
        see, ask = (_spotted(text, _words(now)) for text in (texts.see, texts.ask))
        passed = "".join(f"<p class='bv-passed'>{html.escape(text)}</p>" for text in now.said_of_passed)
        st.html(
            f"<div class='bv-asked'>{passed}<p class='bv-see'>{see}</p><p class='bv-ask' tabindex='-1'>{ask}</p></div>"
        )
        with st.container(key="lesson_reply", gap="xsmall"):
            _reply(verdict, now)
            if isinstance(step.answer, Painted):
                _painting(step.answer, now)
            elif not now.shown:
                _means(step, texts, now)
    if not now.shown:
        with st.container(key="lesson_quiet"):
            st.html(_QUIET)
            if isinstance(step.answer, Painted):
                st.html(_cover(step.part))
    said = verdict.spoken if verdict is not None and now.said is not None else " ".join(now.said_of_passed)
    _listen(step.part, asks=step.answer.side if isinstance(step.answer, Touch) else "", said=said)


def _cover(part: str) -> str:
    """The style that covers the picture of a step until a guess was made."""
    said = json.dumps(_("The picture comes after your guess."), ensure_ascii=False).replace("<", "\\3c ")
    return (
        f"<style>:root {part} {{ position: relative; }} :root {part} > * {{ visibility: hidden; }} "
        f":root {part}::before {{ content: {said}; position: absolute; inset: 0; z-index: 1; display: grid; "
        "place-items: center; border: 2px dashed; border-radius: 0.5rem; opacity: 0.72; }</style>"
    )


def _painting(answer: Painted, now: state.LessonState) -> None:
    """The words of the row to paint over; after the guess, or when the answer is shown, the weights beside it."""
    line = answer.line(now.record)
    said = now.said
    guess = said.guess if isinstance(said, Reply) else ()
    painting.draw(line, guess, shown=now.shown, name=f"{now.at}", on_painted=state.answer)
    if now.shown:
        st.button(_("Guess again"), key="lesson_guess_again", on_click=state.guess_again)


class _Verdict(NamedTuple):
    """What is said of the last answer, or the answer that was asked for: its first word, the rest, its class."""

    head: str
    text: str
    name: str

    @property
    def spoken(self) -> str:
        """The text for a screen reader."""
        return f"{self.head} {self.text}".strip()


def _verdict(texts: StepTexts, now: state.LessonState) -> _Verdict | None:
    """None as long as nothing is to be said. The choices are gone when one was right: it is said which."""
    said = now.said
    right = next((f"‘{option.text}’" for option in texts.options if option.right), "")
    if isinstance(said, Reply) and said.guess:
        return _Verdict("", said.text, "bv-said-right" if said.right else "")
    if isinstance(said, Reply) and said.right:
        return _Verdict(f"{_('Right.')} {right}".rstrip(), said.text, "bv-said-right")
    if now.shown:
        return _Verdict(_("Answer"), f"{right} {texts.answer}".lstrip(), "")
    if said is None:
        return None
    told = said.text if isinstance(said, Reply) else texts.replies.get("aside") if said == OTHER_SIDE else None
    return _Verdict("", told or _(_ASIDE[str(said)]), "bv-said-wrong")


def _reply(verdict: _Verdict | None, now: state.LessonState) -> None:
    """What was said of the last answer; the answer itself once it is given or asked for; else how to answer."""
    if verdict is None:
        body, name = _hint(now), "bv-closed"
    else:
        head = f"<b>{html.escape(verdict.head)}</b> " if verdict.head else ""
        body, name = head + _spotted(verdict.text, _words(now)), verdict.name
    st.html(f"<p class='bv-answer {name}' tabindex='-1'>{body}</p>")


def _words(now: state.LessonState) -> frozenset[str]:
    """The words that have a place in the picture: of the texts, and, where they are drawn, the candidates."""
    assert now.step is not None
    record = now.record
    texts = (tokens.labels for tokens in (record.source, record.output) if tokens is not None)
    chosen = [candidate.label for step in record.steps for candidate in step.candidates]
    return frozenset(label for labels in (*texts, chosen if now.step.page == "decoding" else []) for label in labels)


def _spotted(text: str, words: Collection[str]) -> str:
    """The text as HTML, in which quoted words that have a place in the picture light it."""
    parts = _QUOTED.split(text)
    return "".join(
        f"<mark class='bv-spot' tabindex='0'>{html.escape(part)}</mark>"
        if number % 2 and part in words
        else html.escape(part)
        for number, part in enumerate(parts)
    )


def _hint(now: state.LessonState) -> str:
    """How the step is answered, as HTML; nothing where a field below says it."""
    assert now.step is not None
    answer = now.step.answer
    if isinstance(answer, Touch):
        return _for_keys(_("Answer in the picture: touch it."), _("Or use Tab, the arrow keys and Enter."))
    if isinstance(answer, Painted):
        return _for_keys(_("Drag over the words, or tap them."), _("Or arrow keys and Space."))
    if isinstance(answer, Number):
        return ""
    return html.escape(_("Choose one.") if isinstance(answer, Choice) else _("Think first, then look."))


def _for_keys(text: str, keys: str) -> str:
    return f"{html.escape(text)} <span class='bv-keys'>{html.escape(keys)}</span>"


def _means(step: Step, texts: StepTexts, now: state.LessonState) -> None:
    """Buttons for a choice, a field for a number; for those who cannot touch, a list that the keyboard reaches."""
    answer, name = step.answer, f"{now.at}"
    if isinstance(answer, Choice):
        with st.container(horizontal=True, gap="xsmall", key="lesson_options"):
            for number, option in enumerate(texts.options):
                st.button(show.plain(option.text), key=f"lesson_option_{number}", on_click=state.answer, args=(number,))
    elif isinstance(answer, Number):
        with st.container(horizontal=True, gap="xsmall", key="lesson_number"):
            key = f"lesson_typed_{name}"
            st.number_input(
                texts.ask,
                value=None,
                key=key,
                format="%g",
                label_visibility="collapsed",
                placeholder=_("in %") if answer.percent else _("your number"),
                on_change=_typed,
                args=(key,),
            )
    elif isinstance(answer, Touch):
        spots, key = answer.spots(now.record), f"lesson_listed_{name}"
        with st.container(key="lesson_list"):
            st.selectbox(
                _("Or answer from a list"),
                range(len(spots)),
                index=None,
                key=key,
                format_func=lambda number: spots[number].label,
                on_change=_typed,
                args=(key,),
            )


def _typed(key: str) -> None:
    if st.session_state[key] is not None:
        state.answer(st.session_state[key])


def _controls(lesson: Lesson, now: state.LessonState) -> None:
    """The current step, and the buttons, labelled with their keys."""
    at, shown, last = now.at, now.shown, now.at == len(lesson.steps) - 1
    answered = now.is_answered(lesson, at)
    onward = _("Finish") if last else _("Next") if answered or shown else _("Skip")
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="lesson_controls"):
        st.html(_position(lesson, now), width="stretch")
        st.button(
            f"{_('Hide the answer') if shown else _('Show the answer')} `{ANSWER}`",
            key="lesson_answer",
            on_click=state.reveal,
            args=(not shown,),
            type="tertiary",
        )
        st.button(f"{_('Back')} `{BACK}`", key="lesson_back", on_click=state.go_to, args=(at - 1,), disabled=at == 0)
        st.button(
            f"{onward} `{NEXT}`",
            key="lesson_next",
            on_click=state.go_to,
            args=(at + 1,),
            type="primary" if answered else "secondary",
        )
        st.button(
            _("Set the view of this step again"),
            icon=":material/restart_alt:",
            key="lesson_again",
            on_click=state.again,
            type="tertiary",
            help=_("Set the view of this step again"),
        )
        if now.own is not None:
            st.download_button(
                _("Save this lesson with your text"),
                partial(store.encode, now.own, {page_hooks.LED: lesson.word}),
                file_name=f"bartviz-lesson-{lesson.word}{ENDING}",
                mime="application/octet-stream",
                icon=":material/download:",
                key="lesson_save",
                on_click="ignore",
                type="tertiary",
                help=_("Save this lesson with your text: drop the file on any page to open it again"),
            )
        large_type.button()
        st.button(
            _("Hide the menu") if now.framed else _("Show the menu"),
            icon=":material/menu:",
            key="lesson_frame",
            on_click=state.frame,
            args=(not now.framed,),
            type="secondary" if now.framed else "tertiary",
            help=_("Hide the menu") if now.framed else _("Show the menu"),
        )
        st.button(
            _("Leave the lesson; your own text comes back"),
            icon=":material/close:",
            key="lesson_leave",
            on_click=state.leave,
            type="tertiary",
            help=_("Leave the lesson; your own text comes back"),
        )


def _position(lesson: Lesson, now: state.LessonState) -> str:
    """The lesson's name, the step, and a dot for each step: answered, skipped, or still to come."""
    count = len(lesson.steps)
    dots = "".join(f"<i class='{_dot(lesson, now, at)}'></i>" for at in range(count))
    message = _("Step {step} of {count}", step=now.at + 1, count=count)
    place = f"<span class='bv-lesson-step' data-short='{now.at + 1}/{count}'>{html.escape(message)}</span>"
    title = f"<b>{html.escape(lesson.title)}</b>"
    return f"<p class='bv-lesson-place'>{title} {place} <span class='bv-dots' aria-hidden='true'>{dots}</span></p>"


def _dot(lesson: Lesson, now: state.LessonState, at: int) -> str:
    done = "bv-seen" if now.is_answered(lesson, at) else "bv-skipped" if now.skipped(lesson, at) else ""
    return f"{done} bv-now" if at == now.at else done


def _off_page(step: Step) -> None:
    label = _(page_list.page(step.page).label)
    with st.container(horizontal=True, vertical_alignment="center", key="lesson_astray"):
        st.html(f"<p class='bv-note'>{html.escape(_('This step is on the page {page}.', page=label))}</p>")
        st.button(_("Back to the step"), key="lesson_return", on_click=state.again, type="primary")
