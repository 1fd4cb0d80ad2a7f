"""The decoding player: a component that steps and plays in the browser, without traffic to the server.

Plain files, no bundler. The scripts are read in this order into one module: arithmetic, drawing, canvases, playback.
"""

from __future__ import annotations

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


def player(record: Record, *, layer: int | None, head: int | None, place: Place, key: str) -> Place:
    """Draw the player; gives the place at which the visitor last rested. The record must have steps.

    ``head`` None draws the mean of the layer's heads, ``layer`` None that of all heads. ``place`` is where a record
    begins; the browser keeps its own place afterwards, so that an unchanged record is not sent again.
    """
    last = len(record.steps) - 1
    held: tuple[str, Place] | None = st.session_state.get(_HELD)
    if held is None or held[0] != revision(record):
        held = (revision(record), place._replace(step=min(max(place.step, 0), last)))
        st.session_state[_HELD] = held
        st.session_state.pop(key, None)  # the place in the record before
    data = payload(record, layer=layer, head=head)
    data["meta"] |= {"start": held[1].step, "reading": held[1].reading}
    result = _mount(data=data, key=key, on_step_change=_unheard, on_reading_change=_unheard)
    step, named = result.get("step"), result.get("reading")
    reading = next((known for known in get_args(Reading) if known == named), held[1].reading)
    return Place(min(max(step, 0), last) if isinstance(step, int) else held[1].step, reading)


def _unheard() -> None:
    """A callback makes a name of the state known; the value is read where the player is drawn."""
