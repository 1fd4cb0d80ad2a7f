"""A row of words that are painted over: the visitor's guess of its weights, later beside the weights themselves."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from bartviz.browser.scripts import bundle
from bartviz.features.lessons.answers import MOST_PAINT, Line, Touched
from bartviz.language import _, mark

_FILES = Path(__file__).parent
_MOUNT = st.components.v2.component(
    "bartviz.painting",
    html=(_FILES / "painting.html").read_text("utf-8"),
    css=(_FILES / "painting.css").read_text("utf-8"),
    js=bundle(_FILES / "painting.js"),
)
WORDS: Mapping[str, str] = {
    "row": mark(
        "Words to paint over: left and right go through them, Space adds, Backspace takes away, Enter compares"
    ),
    "word": mark("{word}: {share} of your weight"),
    "judged": mark("{word}: you {share}, the model {weight}"),
    "model": mark("{word}: {weight}"),
    "compare": mark("Compare"),
    "clear": mark("Clear"),
    "yours": mark("your guess"),
    "weights": mark("the model"),
}


def draw(line: Line, guess: Sequence[float], *, shown: bool, name: str, on_painted: Callable[[Touched], None]) -> None:
    """Draw the words. ``guess``: the shares (K,) of a judged guess, or none; ``shown``: whether the weights may be
    seen. ``on_painted`` is called with a new guess before the next script run."""
    key = f"lesson_painted_{name}"
    data = {
        "words": {word: _(text) for word, text in WORDS.items()},
        "labels": list(line.labels),
        "most": MOST_PAINT,
        "guess": list(guess),
        "weights": [round(float(weight), 4) for weight in line.weights] if shown else [],
    }

    def painted() -> None:
        state: Any = st.session_state.get(key)
        levels = state.get("levels") if isinstance(state, Mapping) else None
        if levels is not None:
            on_painted({"painted": levels})

    with st.container(key="lesson_painting"):
        _MOUNT(data=json.dumps(data).encode(), key=key, on_levels_change=painted)
