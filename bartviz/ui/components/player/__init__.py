"""The decoding player: a component that steps and plays in the browser, without traffic to the server.

Plain files, no bundler. The scripts are read in this order into one module: arithmetic, drawing, canvases, playback.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, get_args

import streamlit as st

from bartviz.record import Reading, Record
from bartviz.ui.components.player.data import payload, revision

HERE = Path(__file__).parent
SCRIPTS = ("numbers.js", "picture.js", "canvases.js", "player.js")
_HELD = "_player_place"


def script() -> str:
    """The whole module as the browser gets it."""
    return "\n".join((HERE / name).read_text("utf-8") for name in SCRIPTS)


_mount = st.components.v2.component(
    "bartviz.player",
    html=(HERE / "player.html").read_text("utf-8"),
    css=(HERE / "player.css").read_text("utf-8"),
    js=script(),
)


class Place(NamedTuple):
    """Where the visitor stands: the index of the step last rested on, and how rows are named."""

    step: int
    reading: Reading


class _Held(NamedTuple):
    """What the session keeps of one record: where the player began, and where the visitor was last."""

    revision: str
    begin: Place
    latest: Place


def player(record: Record, *, layer: int | None, head: int | None, place: Place, key: str) -> Place:
    """Draw the player; gives the place at which the visitor last rested. The record must have steps.

    ``head`` None draws the mean of the layer's heads, ``layer`` None that of all heads. ``place`` is where a new record
    begins; the browser keeps its own place afterwards, so that an unchanged record is not sent again. A visitor who
    comes back from another page finds the last place.
    """
    held = _held(record, place, mounted=key in st.session_state)
    data = payload(record, layer=layer, head=head)
    data["meta"] |= {"start": held.begin.step, "reading": held.begin.reading}
    result = _mount(data=data, key=key, on_place_change=_unheard)
    held = held._replace(latest=told(result.get("place"), held.revision, len(record.steps)) or held.latest)
    st.session_state[_HELD] = held
    return held.latest


def _held(record: Record, place: Place, *, mounted: bool) -> _Held:
    now = revision(record)
    held: _Held | None = st.session_state.get(_HELD)
    if held is None or held.revision != now:
        first = place._replace(step=min(max(place.step, 0), len(record.steps) - 1))
        return _Held(now, first, first)
    return held if mounted else held._replace(begin=held.latest)


def told(said: object, now: str, steps: int) -> Place | None:
    """What the browser said, where it fits the record that is shown: anything else is not believed."""
    if not isinstance(said, Mapping) or said.get("revision") != now:
        return None
    step, reading = said.get("step"), said.get("reading")
    known = next((name for name in get_args(Reading) if name == reading), None)
    if type(step) is not int or not 0 <= step < steps or known is None:
        return None
    return Place(step, known)


def _unheard() -> None:
    """A callback makes the name of the state known; its value is read where the player is drawn."""
