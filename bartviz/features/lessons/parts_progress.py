"""A visitor's progress in each lesson, stored only in their browser, so that it survives a reload."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import streamlit as st

from bartviz.app.components.invisible import unseen
from bartviz.features.lessons import parts_lesson_state as state

SCRIPTS = Path(__file__).parent
_LISTEN = unseen("progress", SCRIPTS / "progress.js")


def kept(now: state.LessonState) -> dict[str, list[int]]:
    """For each lesson that was begun, by its word: the number of steps seen, the current step, and the answered ones,
    a bit for each."""
    return {
        word: [reached, now.places.get(word, 0), sum(1 << at for at in now.answered.get(word, ()))]
        for word, reached in now.reached.items()
    }


def recall() -> None:
    """Read the progress stored in the browser, before the cards are drawn. Takes no space on the page."""
    now = state.current()
    with st.container(key="lesson_progress"):
        stored = _LISTEN(key="lesson_seen", data=kept(now), on_seen_change=lambda: None)
    merge(now, stored.get("seen"))


def merge(now: state.LessonState, seen: object) -> None:
    """Merge the progress that a browser sent. It is untrusted: invalid entries are skipped."""
    for word, entry in seen.items() if isinstance(seen, Mapping) else ():
        lesson = state.BY_WORD.get(word) if isinstance(word, str) else None
        if lesson is None or not isinstance(entry, list) or {type(number) for number in entry} != {int}:
            continue
        if len(entry) not in (2, 3):  # before steps could be answered, two were kept
            continue
        count, (reached, position, answered) = len(lesson.steps), (*entry, 0)[:3]
        if 0 < reached <= count and 0 <= position < count and 0 <= answered < 1 << count:
            now.answered.setdefault(lesson.word, set()).update(at for at in range(count) if answered >> at & 1)
            now.reached[lesson.word] = max(now.reached.get(lesson.word, 0), reached)
            now.places.setdefault(lesson.word, position)
