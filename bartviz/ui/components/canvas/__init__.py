"""The attention canvas: every head of one attention small, one of them large as map, lines or text.

All that moves, moves in the browser; where texts are short every map is there already. Python hears of a choice when
the visitor rests on it, and sends an exact map on demand where not all were sent. ``components/canvas/data.py`` says
what is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

import streamlit as st

from bartviz.analysis.color_scale import Range
from bartviz.language import current
from bartviz.record.attention import Attention
from bartviz.text.tokens import Tokens
from bartviz.ui.components.canvas.data import Choice, Picture, Shown, Small, Steps, Views, What
from bartviz.ui.components.scripts import bundle
from bartviz.ui.components.served import Served
from bartviz.ui.state import address

__all__ = ["Choice", "Shown", "Steps", "catch_up", "choice_of", "linked", "show", "tell"]

HERE = Path(__file__).parent


def script() -> str:
    """The whole module as the browser gets it."""
    return bundle(HERE / "canvas.js")


_mount = Served(
    "canvas",
    html=(HERE / "canvas.html").read_text("utf-8"),
    css=(HERE / "canvas.css").read_text("utf-8"),
    script=script(),
)


@dataclass
class _Held:
    """What the session keeps of one canvas, in one object: a script may end between any two calls of Streamlit."""

    picture: Picture
    buffer: bytes  # as it was sent last
    serial: int
    asked: Choice
    latest: Choice
    known: bool = True  # whether the browser has the map of ``latest``
    small: Small = "all"
    whole: bool = True  # whether the browser has what stays while the picture does
    astray: bool = False  # whether the browser was led elsewhere when it said ``latest``, and did not know yet
    heard: object = None  # what the browser said, where it has been done
    on_change: Callable[[Choice], None] | None = None


def show(
    attention: Attention,
    *,
    key: str,
    choice: Choice | None = None,
    query: Tokens | None = None,
    words: bool = False,
    hide_sinks: bool = False,
    renormalise: bool = False,
    span: Range = "fixed",
    small: Small = "all",
    overview: bool = True,
    label: str = "",
    page_keys: bool = True,
    steps: Steps | None = None,
    on_change: Callable[[Choice], None] | None = None,
) -> Choice:
    """Draw the canvas of one attention (``record.attention(kind)``); gives what the visitor last chose.

    ``choice`` is where it begins, and what it goes to when that argument changes afterwards; an index that the
    attention does not have is clamped. ``on_change`` is called before the next run of the script with what the visitor
    has chosen: write it there into the session (pickers, the link). The other arguments are those of
    ``bartviz.analysis.heads.view``; ``span`` says what a full colour stands for, ``small`` whether the small maps are
    those of all layers or of the chosen one. Without ``overview`` the head (or mean) of ``choice`` stands alone, and
    only its map is sent; ``label`` then tells several canvases of a page apart ("A"). ``page_keys`` False where
    something else of the page has the keys that are pressed when nothing has the focus. With ``steps`` the row is that
    of the step which a player of the same record shows: both move together in the browser, and Python hears of it from
    the player alone.
    """
    shown = Shown(query, words, hide_sinks, renormalise, span, overview, label, page_keys, steps, current())
    before: _Held | None = st.session_state.get(f"_canvas_{key}")
    held = _held(before, attention, shown, choice, small, mounted=key in st.session_state)
    held.on_change = on_change
    st.session_state[f"_canvas_{key}"] = held
    surround = f"canvas_{key}" if overview else f"canvas_alone_{key}"
    with st.container(key=surround):  # its height is reserved before the component has come
        _mount(data=held.buffer, key=key, on_choice_change=lambda: catch_up(key))
    return held.latest


def _held(
    held: _Held | None,
    attention: Attention,
    shown: Shown,
    choice: Choice | None,
    small: Small = "all",
    *,
    mounted: bool,
) -> _Held:
    if held is None or held.picture.attention is not attention or held.picture.shown != shown:
        picture = Picture(attention, shown)
        before = held.latest if held is not None and held.picture.attention is attention else Choice()
        begin = clamped(choice or replace(before, rows=(), keys=()), picture.shape)
        heard = None if held is None else held.heard
        buffer = picture.pack(begin, 0, small=small)
        return _Held(picture, buffer, 0, choice or begin, begin, not picture.late, small, heard=heard)
    asked = choice or held.asked
    if shown.steps is not None:  # the row is the player's
        asked = replace(asked, row=held.asked.row)
    to = clamped(asked, held.picture.shape)
    if shown.steps is not None:
        to = replace(to, row=held.latest.row)
    led = asked != held.asked and to.core != held.latest.core  # by a picker, not by the browser
    back = held.astray or not mounted
    latest, serial = (to, held.serial + 1) if led else (held.latest, held.serial + back)
    if not (led or back or small != held.small or not (held.known and held.whole)):
        return replace(held, asked=asked)
    light = mounted and held.whole  # back from another page the browser has forgotten everything
    buffer = held.picture.pack(latest, serial, small=small, light=light)
    return replace(
        held,
        buffer=buffer,
        serial=serial,
        asked=asked,
        latest=latest,
        known=light or not held.picture.late,
        whole=True,
        small=small,
        astray=False,
    )


def linked(key: str, names: tuple[str, str]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Rows and columns that the link has under two names, for a canvas that begins; afterwards they are its own."""
    if f"_canvas_{key}" in st.session_state:
        return (), ()
    rows, keys = (
        tuple(int(said) for said in st.query_params.get_all(name) if said.isdecimal() and len(said) < 6)
        for name in names
    )
    return rows, keys


def tell(names: tuple[str, str], choice: Choice) -> None:
    """Put several rows and columns of a choice into the link."""
    for name, places in zip(names, (choice.rows, choice.keys), strict=True):
        address.publish(name, tuple(map(str, places)), ())


def catch_up(key: str) -> None:
    """Do what the browser said last, unless it is done. A page with pickers calls it before they are drawn: the run
    that first heard of it may have been broken off.
    """
    held: _Held | None = st.session_state.get(f"_canvas_{key}")
    state: Any = st.session_state.get(key)
    said: Any = state.get("choice") if isinstance(state, Mapping) else None
    if held is None or said is None or said == held.heard:
        return
    choice = _heard(held, said)
    if choice is not None:
        held.astray = said.get("serial", held.serial) != held.serial
        held.latest, held.known, held.whole = choice, said.get("known") is True, said.get("whole") is not False
        if held.on_change is not None:
            held.on_change(choice)
    held.heard = said


def _heard(held: _Held, said: object) -> Choice | None:
    if not isinstance(said, Mapping) or said.get("revision") != held.picture.revision:
        return None
    choice = choice_of(said, held.picture.shape)
    if choice is None or (not held.picture.shown.overview and choice.core[:3] != held.latest.core[:3]):
        return None  # a head that stands alone is another one only where the page says so
    return choice


def choice_of(said: Mapping[str, Any], shape: tuple[int, int, int, int]) -> Choice | None:
    """What the browser said, where it is a choice of this attention: anything else is not believed."""
    layer, head, row = (said.get(name) for name in ("layer", "head", "row"))
    what = next((name for name in get_args(What) if name == said.get("what")), None)
    view = next((name for name in get_args(Views) if name == said.get("view")), None)
    rows, keys = (_numbers(said.get(name)) for name in ("rows", "keys"))
    if what is None or view is None or rows is None or keys is None:
        return None
    if type(layer) is not int or type(head) is not int or type(row) is not int:
        return None
    choice = Choice(layer, head, what, row, view, rows, keys)
    return choice if clamped(choice, shape) == choice else None


def _numbers(said: object) -> tuple[int, ...] | None:
    return tuple(said) if isinstance(said, list) and all(type(number) is int for number in said) else None


def clamped(choice: Choice, shape: tuple[int, int, int, int]) -> Choice:
    """The same choice within an attention of this shape (L, H, Q, K)."""
    layers, heads, rows, keys = shape

    def within(places: tuple[int, ...], count: int) -> tuple[int, ...]:
        return tuple(sorted({place for place in places if 0 <= place < count}))

    return replace(
        choice,
        layer=min(max(choice.layer, 0), layers - 1),
        head=min(max(choice.head, 0), heads - 1),
        row=min(max(choice.row, 0), rows - 1),
        rows=within(choice.rows, rows),
        keys=within(choice.keys, keys),
    )
