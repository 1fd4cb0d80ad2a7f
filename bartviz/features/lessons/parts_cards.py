"""The lessons as cards: their content, duration and progress."""

from __future__ import annotations

import html

import streamlit as st

from bartviz.app.controls import show
from bartviz.app.frame import page
from bartviz.features.lessons import parts_lesson_state as state
from bartviz.features.lessons.lesson import Lesson
from bartviz.features.lessons.parts_course import FIRST, LESSONS
from bartviz.language import _, mark, plural

ACROSS = 4
GROUPS = (mark("Begin here, in this order"), mark("Then any of these"))


def lead() -> str:
    """The sentence above the cards: the progress in the whole course."""
    reached = state.current().reached
    if not reached:
        return _("Each lesson is a short tour of the app, with questions. The first ones need no prior knowledge.")
    following, done = _next(), sum(map(_done, LESSONS))
    if following is None:
        return _("All {count} lessons done. The quiz asks about your own text.", count=len(LESSONS))
    if state.current().finished is not None:  # whose card has a button for the next one
        return _("{done} of {count} lessons done.", done=done, count=len(LESSONS))
    return _("{done} of {count} lessons done. Next: {title}.", done=done, count=len(LESSONS), title=following.title)


def _done(lesson: Lesson) -> bool:
    return state.current().is_done(lesson)


def _next() -> Lesson | None:
    """The first lesson that is not done."""
    return next((lesson for lesson in LESSONS if not _done(lesson)), None)


def ended() -> None:
    """After a lesson: the one thing learned in it, and a button for the next one."""
    lesson = state.current().finished
    if lesson is None:
        return
    following = _after(lesson)
    with st.container(border=True, gap="small", key="lesson_ended"):
        told = _("Done: {title}", title=lesson.title)
        if not _done(lesson):
            told = f"{lesson.title}: {_progress_text(lesson)}"
        for sentence in state.current().said_of_passed:
            show.note(sentence)
        heading = f"<h2 class='bv-card-title' tabindex='-1'>{html.escape(told)}</h2>"
        st.html(f"{heading}<p class='bv-learned'>{html.escape(lesson.learned)}</p>")
        _score(lesson)
        if following is not None:
            label = _("Next: {number}. {title}", number=LESSONS.index(following) + 1, title=following.title)
            st.button(label, key="lesson_following", type="primary", on_click=state.start, args=(following.word, 0))
        else:
            page.link("quiz", _("Next: the quiz, about your own text"), icon=":material/arrow_forward:")


def _score(lesson: Lesson) -> None:
    """How many of the answers in this visit were right at once, and the steps that are worth another look."""
    tries = state.current().tries.get(lesson.word, {})
    if not tries:
        return
    right, again = sum(tries.values()), sorted(at for at, was_right in tries.items() if not was_right)
    show.what_to_do(
        plural(
            "Right at the first try: {right} of {count} question.",
            "Right at the first try: {right} of {count} questions.",
            len(tries),
            right=right,
        )
    )
    if again:
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key="lesson_look_again"):
            show.note(_("Worth another look:"))
            for at in again:
                label = _("Step {step}", step=at + 1)
                st.button(label, key=f"look_again_{at}", type="tertiary", on_click=state.start, args=(lesson.word, at))


def _after(lesson: Lesson) -> Lesson | None:
    """The lesson to continue with: the next in order, or else the first that is not done."""
    following = LESSONS.index(lesson) + 1
    return LESSONS[following] if following < len(LESSONS) else _next()


def cards() -> None:
    """One card for each lesson: those to begin with, in order, and the others."""
    first = [lesson for lesson in LESSONS if lesson in FIRST]
    for heading, group in zip(GROUPS, (first, LESSONS[len(first) :]), strict=True):
        if group:
            with st.container(key=f"lesson_group_{group[0].word}"):
                st.html(f"<h2 class='bv-card-group'>{html.escape(_(heading))}</h2>")
        for at in range(0, len(group), ACROSS):
            with st.container(key=f"cards_{group[at].word}"):
                columns = st.columns(ACROSS, gap="small")
            for column, lesson in zip(columns, group[at : at + ACROSS], strict=False):
                with column.container(border=True, height="stretch", gap="xsmall", key=f"card_{lesson.word}"):
                    _card(lesson, LESSONS.index(lesson) + 1)


def _card(lesson: Lesson, number: int) -> None:
    now, count = state.current(), len(lesson.steps)
    reached, at = now.reached.get(lesson.word, 0), now.places.get(lesson.word, 0)
    size = plural("{count} step", "{count} steps", count)
    minutes = plural("about {count} minute", "about {count} minutes", lesson.minutes)
    st.html(
        f"<h3 class='bv-card-title'>{number}. {html.escape(lesson.title)}</h3>"
        f"<p class='bv-card-about'>{html.escape(lesson.about)}</p>"
    )
    show.note(f"{size} · {minutes}")
    if reached:
        st.progress(sum(now.is_answered(lesson, step) for step in range(count)) / count, text=_progress_text(lesson))
    runs = now.lesson is lesson
    label = _("Continue with step {step}", step=at + 1) if at else _("Again") if reached == count else _("Start")
    with st.container(horizontal=True, gap="small", key=f"buttons_of_{lesson.word}"):
        st.button(
            f"{label} `{lesson.title}`",  # heard, not seen (style.css): the title stands above it
            key=f"begin_{lesson.word}",
            on_click=state.start,
            args=(lesson.word, at),
            type="primary" if runs or (now.lesson is now.finished is None and lesson is _next()) else "secondary",
        )
        if lesson.takes_own:
            _own(lesson)


def _own(lesson: Lesson) -> None:
    """The visitor's own text in place of the lesson's, in what a button opens."""
    key = f"own_{lesson.word}"
    with st.popover(_("Use your own text"), type="tertiary", key=key, on_change="rerun") as opened:
        if not opened.open:
            return
        with st.form(f"{key}_form", border=False):
            st.text_area(
                _("An English sentence"),
                key=f"{key}_text",
                max_chars=state.LONGEST,
                height=80,
                placeholder=_("such as: The old woman gave me a warm coat."),
            )
            st.form_submit_button(
                _("Start with this text"), type="primary", width="stretch", on_click=_start_own, args=(lesson.word, key)
            )
        show.note(
            _(
                "{model} translates it into German, and the lesson asks about both. The text becomes part of the "
                "address, so a link shows others the same lesson.",
                model=state.MODEL,
            )
        )


def _start_own(word: str, key: str) -> None:
    st.session_state[key] = False  # the popover
    state.start_own(word, st.session_state[f"{key}_text"] or "")


def _progress_text(lesson: Lesson) -> str:
    now, count = state.current(), len(lesson.steps)
    if now.is_done(lesson):
        return _("done")
    answered = sum(now.is_answered(lesson, at) for at in range(count))
    skipped = sum(now.skipped(lesson, at) for at in range(count))
    told = _("{answered} of {count} steps answered", answered=answered, count=count)
    return f"{told}, {_('{skipped} skipped', skipped=skipped)}" if skipped else told
