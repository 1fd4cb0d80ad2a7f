"""The area of the map that is open (URL ``area``): a touch opens one level, and the page follows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from bartviz.app.components.invisible import unseen
from bartviz.app.state import url_state
from bartviz.app.state.url_state import Words
from bartviz.features.parameters.figure import Area

_LISTEN = unseen("parameters_open", Path(__file__).parent / "open.js")
_KEY = "parameters_open"
_STYLE = Path(__file__).with_name("style.css")


def opened(tree: Sequence[Area]) -> Area:
    """The open area, at first the model; ``tree`` begins with it."""
    by_id = {area.id: area for area in tree}
    default = (tree[0].id,)

    def parse(words: Words) -> Words | None:
        return words[-1:] if words and words[-1] in by_id else None

    words = url_state.resolve("area", None, parse, default)
    url_state.publish("area", words, default)
    return by_id[words[0]]


def listen() -> None:
    """Let a touch on the map open an area. Takes no space on the page."""
    with st.container(key="parameters_touches"):
        st.html(_STYLE)
        _LISTEN(key=_KEY, data={}, on_touched_change=_open)


def _open() -> None:
    """Open the area that was touched, whatever a browser sends: a callback."""
    touched = st.session_state[_KEY].touched
    if isinstance(touched, str):
        url_state.choose("area", (touched,))
