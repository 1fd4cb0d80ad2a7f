"""The area of the map that is open (URL ``area``): a touch opens one level, and the page follows; the names of its path
and of its parts are buttons that do the same."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import streamlit as st

from bartviz.app.components.invisible import unseen
from bartviz.app.state import url_state
from bartviz.app.state.url_state import Words
from bartviz.browser.scripts import bundle
from bartviz.features.parameters.figure import Area
from bartviz.language import _

_FILES = Path(__file__).parent
_LISTEN = unseen("parameters_open", _FILES / "open.js")
_MOUNT = st.components.v2.component(
    "bartviz.areas",
    html=(_FILES / "areas.html").read_text("utf-8"),
    css=(_FILES / "areas.css").read_text("utf-8"),
    js=bundle(_FILES / "areas.js"),
)
_KEY = "parameters_open"
_STYLE = _FILES / "style.css"
Line = tuple[str | None, Sequence[str]]  # the area that a line of a table opens, and its cells


def opened(*trees: Sequence[Area]) -> Area:
    """The open area, at first the model; each tree begins with it."""
    by_id = {area.id: area for tree in reversed(trees) for area in tree}
    default = (trees[0][0].id,)

    def parse(words: Words) -> Words | None:
        return words[-1:] if words and words[-1] in by_id else None

    words = url_state.resolve("area", None, parse, default)
    url_state.publish("area", words, default)
    return by_id[words[0]]


def listen() -> None:
    """Let a touch on a map open an area. Takes no space on the page."""
    with st.container(key="parameters_touches"):
        st.html(_STYLE)
        _LISTEN(key=_KEY, data={}, on_touched_change=partial(_open, _KEY))


def path(tree: Sequence[Area], chosen: Area, *, model: str = "") -> None:
    """The areas that the open one is in, from the model on: each leads back to it. ``model``: another name of this."""
    by_id, above = {area.id: area for area in tree}, [chosen]
    while above[0].parent:
        above.insert(0, by_id[above[0].parent])
    names = [{"id": area.id, "text": area.name if area.parent else model or area.name} for area in above]
    _draw("parameters_path", {"label": _("Path to the open area"), "path": names, "head": [], "rows": []})


def table(head: Sequence[str], lines: Sequence[Line], *, current: str | None = None, sums: bool = False) -> None:
    """Parts with their numbers; ``current``: the open one; ``sums``: the last line has the sums."""
    rows = [
        {"id": area, "cells": list(cells), "current": area is not None and area == current, "sum": False}
        for area, cells in lines
    ]
    if sums:
        rows[-1]["sum"] = True
    _draw("parameters_parts", {"label": _("Parts"), "path": [], "head": list(head), "rows": rows})


def _draw(key: str, data: dict[str, object]) -> None:
    _MOUNT(data=json.dumps(data).encode(), key=key, on_touched_change=partial(_open, key))


def _open(key: str) -> None:
    """Open the area that was chosen, whatever a browser sends: a callback."""
    touched = st.session_state[key].touched
    if isinstance(touched, str):
        url_state.choose("area", (touched,))
