"""The decoding player: a component that steps and plays in the browser, without traffic to the server.

Its scripts: ``numbers.js`` (arithmetic), ``picture.js`` (what is drawn), ``canvases.js``, ``player.js`` (playback).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import count
from typing import Literal, NamedTuple, cast, get_args

import streamlit as st

from bartviz.analysis.temperature import SHARES, TEMPERATURES, Temperatures
from bartviz.analysis.word_colors import WordColors
from bartviz.app.components.served import Served
from bartviz.browser import BROWSER
from bartviz.browser.player.data import payload, revision
from bartviz.record.record import Reading, Record

_HELD = "_player_place"
_SERIALS = count(1)
MOST_DRAWN = 10  # the largest top-k that the player offers
LONGEST_TYPED = 200  # characters of a typed text, as in the input field


COMPONENT = Served.of(BROWSER / "player")


class Place(NamedTuple):
    """The visitor's position: the index of the step last paused on, and how rows are named."""

    step: int
    reading: Reading


class BranchRequest(NamedTuple):
    """A visitor's request: another ``token`` (id, or a typed text) at a step, or what to do with the branch."""

    step: int
    token: int | str | None
    then: Literal["follow", "adopt", "drop"]


class DrawRequest(NamedTuple):
    """A visitor's wish for another text, drawn at random; top_k 0 and top_p 1 keep all tokens."""

    temperature: float
    top_k: int
    top_p: float


Request = BranchRequest | DrawRequest


class _Held(NamedTuple):
    """The session state for one record: the player's initial and latest position.

    Delete it to move the visitor to another step; the browser goes to ``begin`` when ``serial`` is new.
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
    costs: bool = True,
    plain: bool = False,
    heat: Temperatures | Literal["later"] | None = None,
    colors: WordColors | None = None,
    naming: bool = True,
    on_request: Callable[[Request], None] = lambda request: None,
    key: str,
) -> Place:
    """Draw the player; returns the visitor's latest position. The record must have steps.

    ``head`` None draws the mean of the layer's heads, ``layer`` None that of all heads. ``place`` is the initial
    position for a new record, and for a visitor who comes from another page; afterwards the browser keeps its own, so
    that an unchanged record is not sent again. ``branch`` is drawn as a second strip below the
    first; ``follows``: whether the browser goes to the step where a new branch begins; ``costs``: whether it says what
    a step computes; ``plain``: for a beginner, words and bars; ``colors``: those of the record's words; ``naming``:
    whether it has the switch of the rows' names. ``on_request`` is called with the visitor's request before the next
    script run.
    """
    held = _held(record, place, mounted=key in st.session_state)
    data = payload(record, layer=layer, head=head, branch=branch, plain=plain, heat=heat, colors=colors)
    data["meta"] |= {"start": held.begin.step, "reading": held.begin.reading, "led": held.serial, "follows": follows}
    data["meta"] |= {"costs": costs, "naming": naming}
    handle = partial(_handle, key, held.revision, record, on_request)
    result = COMPONENT(data=data, key=key, on_place_change=_ignore, on_ask_change=handle)
    held = held._replace(latest=parse_place(result.get("place"), held.revision, len(record.steps)) or held.latest)
    st.session_state[_HELD] = held
    return held.latest


def _handle(key: str, now: str, record: Record, on_request: Callable[[Request], None]) -> None:
    request = parse_request(st.session_state[key].get("ask"), now, len(record.steps), record.model.vocabulary)
    if request is not None:
        on_request(request)


def parse_request(message: object, now: str, steps: int, vocabulary: int) -> Request | None:
    """The request in a browser message; None unless it is valid for the current record."""
    if not isinstance(message, Mapping) or message.get("revision") != now:
        return None
    step, token, text, action = (message.get(name) for name in ("step", "token", "text", "wish"))
    if type(step) is not int or not 0 <= step < steps:
        return None
    if action == "draw":
        return _drawing(message)
    if action in ("adopt", "drop"):
        return BranchRequest(step, None, "adopt" if action == "adopt" else "drop")
    if type(token) is int and 0 <= token < vocabulary:
        return BranchRequest(step, token, "follow")
    if isinstance(text, str) and text.strip() and len(text) <= LONGEST_TYPED:
        return BranchRequest(step, text, "follow")
    return None


def _drawing(message: Mapping[str, object]) -> DrawRequest | None:
    """The wish to draw a text; None unless each of its numbers is one that the player offers."""
    temperature, k, p = (message.get(name) for name in ("temperature", "top_k", "top_p"))
    if type(k) is not int or not 0 <= k <= MOST_DRAWN or temperature not in TEMPERATURES or p not in (1, *SHARES):
        return None
    return DrawRequest(float(temperature), k, float(cast("float", p)))


def _held(record: Record, place: Place, *, mounted: bool) -> _Held:
    now = revision(record)
    held: _Held | None = st.session_state.get(_HELD)
    first = place._replace(step=min(max(place.step, 0), len(record.steps) - 1))
    if held is None or held.revision != now:
        return _Held(now, first, first, next(_SERIALS))
    return held if mounted else held._replace(begin=first, latest=first)


def parse_place(message: object, now: str, steps: int) -> Place | None:
    """The position in a browser message; None unless it is valid for the current record."""
    if not isinstance(message, Mapping) or message.get("revision") != now:
        return None
    step, reading = message.get("step"), message.get("reading")
    known = next((name for name in get_args(Reading) if name == reading), None)
    if type(step) is not int or not 0 <= step < steps or known is None:
        return None
    return Place(step, known)


def _ignore() -> None:
    """Does nothing: the callback declares the name of the state, which is read when the player is drawn."""
