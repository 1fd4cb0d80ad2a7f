"""How far a visitor is in each lesson, kept by their browser alone: it is there again after a reload."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import streamlit as st

from bartviz.ui.components.scripts import bundle
from bartviz.ui.frame.tour import walk

SCRIPTS = Path(__file__).parents[2] / "components" / "lessons"
_LISTEN = st.components.v2.component("bartviz.progress", html="<span></span>", js=bundle(SCRIPTS / "progress.js"))


def kept(now: walk.Walk) -> dict[str, list[int]]:
    """By the word of each lesson that was begun: how many of its steps were seen, and at which one one left off."""
    return {word: [reached, now.places.get(word, 0)] for word, reached in now.reached.items()}


def recall() -> None:
    """Take in what the browser has kept, before the cards are drawn; it takes no room."""
    now = walk.current()
    with st.container(key="lesson_progress"):
        said = _LISTEN(key="lesson_seen", data=kept(now), on_seen_change=lambda: None)
    take(now, said.get("seen"))


def take(now: walk.Walk, seen: object) -> None:
    """Add what a browser says to what is known here; it may say anything."""
    for word, found in seen.items() if isinstance(seen, Mapping) else ():
        lesson = walk.BY_WORD.get(word) if isinstance(word, str) else None
        if lesson is None or not isinstance(found, list) or [type(one) for one in found] != [int, int]:
            continue
        count, (reached, at) = len(lesson.steps), found
        if 0 < reached <= count and 0 <= at < count:
            now.reached[word] = max(now.reached.get(word, 0), reached)
            now.places.setdefault(word, at)
