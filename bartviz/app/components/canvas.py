"""The attention canvas: all heads of one attention as small maps, one of them large as map, lines or text.

All interaction happens in the browser, which has every map if the texts are short. Python is notified when the visitor
pauses on a choice, and sends an exact map on demand if not all were sent. ``components/canvas/data.py`` describes the
data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args

import streamlit as st

from bartviz.analysis.weight_scale import Range
from bartviz.analysis.word_colors import Numbers
from bartviz.app.components.served import Served
from bartviz.app.state import url_state
from bartviz.app.state.result_cache import cached
from bartviz.browser import BROWSER
from bartviz.browser.canvas.data import Against, Choice, Picture, Shown, Small, Steps, Views, What
from bartviz.language import current, mark
from bartviz.record.attention import Attention
from bartviz.text.tokens import Tokens

VIEWS = {"map": mark("map"), "lines": mark("lines"), "text": mark("text")}
RANGE_NAMES = {"fixed": mark("0 to 1"), "row": mark("each row's largest"), "log": mark("powers of ten")}
SEVERAL = ("chosen_row", "chosen_column")  # words of the address that a link may repeat
COMPONENT = Served.of(BROWSER / "canvas")


@dataclass
class _Held:
    """The session state of one canvas, in one object: a script may end between any two calls of Streamlit."""

    picture: Picture
    buffer: bytes  # as last sent
    serial: int
    requested: Choice
    latest: Choice
    known: bool = True  # whether the browser has the map of ``latest``
    small: Small = "all"
    whole: bool = True  # whether the browser has the fixed data of the picture
    astray: bool = False  # whether ``latest`` predates a choice that Python had already sent
    handled: object = None  # the last message of the browser that was handled
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
    colors: tuple[Numbers, Numbers] | None = None,
    plain: bool = False,
    beside: tuple[str, ...] = (),
    against: Against | None = None,
    on_change: Callable[[Choice], None] | None = None,
) -> Choice:
    """Draw the canvas of one attention (``record.attention(kind)``); returns the visitor's latest choice.

    ``choice`` is the initial choice, and the canvas follows later changes of it; indices are clamped to the attention.
    ``on_change`` is called with the visitor's choice before the next script run: use it to update the session (pickers,
    the link). The other arguments are those of ``bartviz.analysis.head_view.view``; ``span`` is the range of colours,
    ``small`` selects the small maps of all layers or of the chosen one. Without ``overview`` only the head (or mean) of
    ``choice`` is drawn and sent; ``label`` then distinguishes several canvases of a page ("A"). Set ``page_keys`` to
    False if another part of the page handles keys pressed without a focus. With ``steps`` the row follows the step of
    a player of the same record: both move together in the browser, and only the player notifies Python. ``colors``
    are those of the words of rows and columns (``pick.colors_of_words``); ``plain``: sentences for a beginner;
    ``beside``: the labels of a map that stands beside this one, so that both are level. ``against``: the
    map of the difference of two heads instead.
    """
    around = label, page_keys, steps, current()
    shown = Shown(
        query,
        words,
        hide_sinks,
        renormalise,
        span,
        overview,
        *around,
        colors=colors,
        plain=plain,
        beside=beside,
        against=against,
    )
    before: _Held | None = st.session_state.get(f"_canvas_{key}")
    held = _held(before, attention, shown, choice, small, mounted=key in st.session_state)
    held.on_change = on_change
    st.session_state[f"_canvas_{key}"] = held
    surround = f"canvas_{key}" if overview else f"canvas_alone_{key}"
    with st.container(key=surround):  # reserves the height before the component loads
        COMPONENT(data=held.buffer, key=key, on_choice_change=lambda: catch_up(key))
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
        picture = Picture(attention, shown, cached)
        before = held.latest if held is not None and held.picture.attention is attention else Choice()
        begin = clamped(choice or replace(before, rows=(), keys=()), picture.shape)
        handled = None if held is None else held.handled
        buffer = picture.pack(begin, 0, small=small)
        return _Held(picture, buffer, 0, choice or begin, begin, not picture.late, small, handled=handled)
    requested = choice or held.requested
    if shown.steps is not None:  # the player chooses the row
        requested = replace(requested, row=held.requested.row)
    target = clamped(requested, held.picture.shape)
    if shown.steps is not None:
        target = replace(target, row=held.latest.row)
    led = requested != held.requested and target.core != held.latest.core  # changed by a picker, not by the browser
    back = held.astray or not mounted
    latest, serial = (target, held.serial + 1) if led else (held.latest, held.serial + back)
    if not (led or back or small != held.small or not (held.known and held.whole)):
        return replace(held, requested=requested)
    light = mounted and held.whole  # after another page, the browser has nothing left
    buffer = held.picture.pack(latest, serial, small=small, light=light)
    return replace(
        held,
        buffer=buffer,
        serial=serial,
        requested=requested,
        latest=latest,
        known=light or not held.picture.late,
        whole=True,
        small=small,
        astray=False,
    )


def linked(key: str, names: tuple[str, str]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Rows and columns from the link, under two names, for a new canvas; later the canvas keeps its own."""
    if f"_canvas_{key}" in st.session_state:
        return (), ()
    rows, keys = (
        tuple(int(number) for number in st.query_params.get_all(name) if number.isdecimal() and len(number) < 6)
        for name in names
    )
    return rows, keys


def publish(names: tuple[str, str], choice: Choice) -> None:
    """Put the rows and columns of a choice into the link."""
    for name, positions in zip(names, (choice.rows, choice.keys), strict=True):
        url_state.publish(name, tuple(map(str, positions)), ())


def catch_up(key: str) -> None:
    """Apply the browser's last message, unless that has been done. A page calls this before it draws its pickers: the
    run that received the message may have been interrupted.
    """
    held: _Held | None = st.session_state.get(f"_canvas_{key}")
    state: Any = st.session_state.get(key)
    message: Any = state.get("choice") if isinstance(state, Mapping) else None
    if held is None or message is None or message == held.handled:
        return
    choice = _parse(held, message)
    if choice is not None:
        held.astray = message.get("serial", held.serial) != held.serial
        held.latest, held.known, held.whole = choice, message.get("known") is True, message.get("whole") is not False
        if held.on_change is not None:
            held.on_change(choice)
    held.handled = message


def _parse(held: _Held, message: object) -> Choice | None:
    if not isinstance(message, Mapping) or message.get("revision") != held.picture.revision:
        return None
    choice = choice_of(message, held.picture.shape)
    if choice is None or (not held.picture.shown.overview and choice.core[:3] != held.latest.core[:3]):
        return None  # only the page may change the head of a canvas without overview
    return choice


def choice_of(message: Mapping[str, Any], shape: tuple[int, int, int, int]) -> Choice | None:
    """The choice in a browser message; None unless it is valid for this attention."""
    layer, head, row = (message.get(name) for name in ("layer", "head", "row"))
    what = next((name for name in get_args(What) if name == message.get("what")), None)
    view = next((name for name in get_args(Views) if name == message.get("view")), None)
    rows, keys = (_numbers(message.get(name)) for name in ("rows", "keys"))
    if what is None or view is None or rows is None or keys is None:
        return None
    if type(layer) is not int or type(head) is not int or type(row) is not int:
        return None
    choice = Choice(layer, head, what, row, view, rows, keys)
    return choice if clamped(choice, shape) == choice else None


def _numbers(value: object) -> tuple[int, ...] | None:
    return tuple(value) if isinstance(value, list) and all(type(number) is int for number in value) else None


def clamped(choice: Choice, shape: tuple[int, int, int, int]) -> Choice:
    """The choice clamped to an attention of this shape (L, H, Q, K)."""
    layers, heads, rows, keys = shape

    def within(indices: tuple[int, ...], count: int) -> tuple[int, ...]:
        return tuple(sorted({index for index in indices if 0 <= index < count}))

    return replace(
        choice,
        layer=min(max(choice.layer, 0), layers - 1),
        head=min(max(choice.head, 0), heads - 1),
        row=min(max(choice.row, 0), rows - 1),
        rows=within(choice.rows, rows),
        keys=within(choice.keys, keys),
    )
