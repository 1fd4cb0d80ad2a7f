"""The decoding player: a component that steps and plays in the browser, without traffic to the server.

Its scripts: ``numbers.js`` (arithmetic), ``picture.js`` (what is drawn), ``canvases.js``, ``player.js`` (playback).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import count
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import streamlit as st

from bartviz.record.record import Reading, Record
from bartviz.ui.components.player.data import payload, revision
from bartviz.ui.components.scripts import bundle
from bartviz.ui.components.served import Served

HERE = Path(__file__).parent
_HELD = "_player_place"
_SERIALS = count(1)
LONGEST_WISH = 200  # characters of a typed text, as the field allows


def script() -> str:
    """The whole module as the browser gets it."""
    return bundle(HERE / "player.js")


_mount = Served(
    "player",
    html=(HERE / "player.html").read_text("utf-8"),
    css=(HERE / "player.css").read_text("utf-8"),
    script=script(),
)


class Place(NamedTuple):
    """Where the visitor stands: the index of the step last rested on, and how rows are named."""

    step: int
    reading: Reading


class Wish(NamedTuple):
    """What a visitor asks for: another ``token`` (id, or a typed text) at a step, or what to do with the branch."""

    step: int
    token: int | str | None
    then: Literal["follow", "adopt", "drop"]


class _Held(NamedTuple):
    """What the session keeps of one record: where the player began, and where the visitor was last.

    Whoever leads the visitor to another step forgets this; the browser goes to ``begin`` where ``serial`` is new.
    """

    revision: str
    begin: Place
    latest: Place
    serial: int = 0


def player(
    record: Record,
    *,
    layer: int | None,
    head: int | None,
    place: Place,
    branch: Record | None = None,
    follows: bool = True,
    on_wish: Callable[[Wish], None] = lambda wish: None,
    key: str,
) -> Place:
    """Draw the player; gives the place at which the visitor last rested. The record must have steps.

    ``head`` None draws the mean of the layer's heads, ``layer`` None that of all heads. ``place`` is where a new record
    begins; the browser keeps its own place afterwards, so that an unchanged record is not sent again. A visitor who
    comes back from another page finds the last place. ``branch`` is drawn as a second strip under the first;
    ``follows``: whether the browser goes to the step at which a new one parts. ``on_wish`` is called, before the next
    run of the script, with what the visitor asks for.
    """
    held = _held(record, place, mounted=key in st.session_state)
    data = payload(record, layer=layer, head=head, branch=branch)
    data["meta"] |= {"start": held.begin.step, "reading": held.begin.reading, "led": held.serial, "follows": follows}
    hear = partial(_hear, key, held.revision, record, on_wish)
    result = _mount(data=data, key=key, on_place_change=_unheard, on_ask_change=hear)
    held = held._replace(latest=told(result.get("place"), held.revision, len(record.steps)) or held.latest)
    st.session_state[_HELD] = held
    return held.latest


def _hear(key: str, now: str, record: Record, then: Callable[[Wish], None]) -> None:
    wish = wished(st.session_state[key].get("ask"), now, len(record.steps), record.model.vocabulary)
    if wish is not None:
        then(wish)


def wished(said: object, now: str, steps: int, vocabulary: int) -> Wish | None:
    """What the browser asks for, where it fits the record that is shown: anything else is not believed."""
    if not isinstance(said, Mapping) or said.get("revision") != now:
        return None
    step, token, text, wish = (said.get(name) for name in ("step", "token", "text", "wish"))
    if type(step) is not int or not 0 <= step < steps:
        return None
    if wish in ("adopt", "drop"):
        return Wish(step, None, "adopt" if wish == "adopt" else "drop")
    if type(token) is int and 0 <= token < vocabulary:
        return Wish(step, token, "follow")
    if isinstance(text, str) and text.strip() and len(text) <= LONGEST_WISH:
        return Wish(step, text, "follow")
    return None


def _held(record: Record, place: Place, *, mounted: bool) -> _Held:
    now = revision(record)
    held: _Held | None = st.session_state.get(_HELD)
    if held is None or held.revision != now:
        first = place._replace(step=min(max(place.step, 0), len(record.steps) - 1))
        return _Held(now, first, first, next(_SERIALS))
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
