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

from bartviz.analysis.spans import Range
from bartviz.attention import Attention, Tokens
from bartviz.ui.components.canvas.data import Choice, Picture, Shown, Small, Views, What

__all__ = ["Choice", "Shown", "choice_of", "show"]

HERE = Path(__file__).parent / "components" / "canvas"
SCRIPTS = (
    "numbers.js", "window.js", "colors.js", "state.js", "overview.js", "map.js", "lines.js", "text.js", "said.js",
    "keys.js", "pointer.js", "canvas.js",
)  # fmt: skip


def script() -> str:
    """The whole module as the browser gets it."""
    return "\n".join((HERE / name).read_text("utf-8") for name in SCRIPTS)


_mount = st.components.v2.component(
    "bartviz.canvas",
    html=(HERE / "canvas.html").read_text("utf-8"),
    css=(HERE / "canvas.css").read_text("utf-8"),
    js=script(),
)


@dataclass(frozen=True)
class _Held:
    """What the session keeps of one canvas: its picture, the buffer that was sent, what was asked and told last."""

    picture: Picture
    buffer: bytes
    serial: int
    asked: Choice
    latest: Choice
    known: bool  # whether the browser has the map of ``latest``
    small: Small = "all"


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
    on_change: Callable[[Choice], None] | None = None,
) -> Choice:
    """Draw the canvas of one attention (``record.attention(kind)``); gives what the visitor last chose.

    ``choice`` is where it begins, and what it goes to when that argument changes afterwards; an index that the
    attention does not have is clamped. ``on_change`` is called before the next run of the script with what the visitor
    has chosen: write it there into the session (pickers, the link). The other arguments are those of
    ``bartviz.analysis.heads.view``; ``span`` says what a full colour stands for, ``small`` whether the small maps are
    those of all layers or of the chosen one. Without ``overview`` the head (or mean) of ``choice`` stands alone, and
    only its map is sent; ``label`` then tells several canvases of a page apart ("A"). ``page_keys`` False where
    something else of the page has the keys that are pressed when nothing has the focus.
    """
    shown = Shown(query, words, hide_sinks, renormalise, span, overview, label, page_keys)
    before: _Held | None = st.session_state.get(f"_canvas_{key}")
    held = _held(before, attention, shown, choice, small, mounted=key in st.session_state)
    st.session_state[f"_canvas_{key}"] = held
    surround = f"canvas_{key}" if overview else f"canvas_alone_{key}"
    with st.container(key=surround):  # its height is reserved before the component has come
        _mount(data=held.buffer, key=key, on_choice_change=lambda: _hear(key, on_change))
    return held.latest


def _held(
    held: _Held | None, attention: Attention, shown: Shown, choice: Choice | None, small: Small = "all", *,
    mounted: bool,
) -> _Held:  # fmt: skip
    if held is None or held.picture.attention is not attention or held.picture.shown != shown:
        picture = Picture(attention, shown)
        before = held.latest if held is not None and held.picture.attention is attention else Choice()
        begin = clamped(choice or replace(before, rows=(), keys=()), picture.shape)
        return _Held(picture, picture.pack(begin, 0, small=small), 0, choice or begin, begin, known=True, small=small)
    asked = choice or held.asked
    to = clamped(asked, held.picture.shape)
    led = asked != held.asked and to.core != held.latest.core  # by a picker, not by the browser
    if led or not mounted:  # back from another page the browser has forgotten everything
        begin = to if led else held.latest
        buffer, serial = held.picture.pack(begin, held.serial + 1, small=small), held.serial + 1
        return replace(held, buffer=buffer, serial=serial, asked=asked, latest=begin, known=True, small=small)
    if not held.known or small != held.small:
        buffer = held.picture.pack(held.latest, held.serial, small=small)
        return replace(held, buffer=buffer, asked=asked, known=True, small=small)
    return replace(held, asked=asked)


def _hear(key: str, on_change: Callable[[Choice], None] | None) -> None:
    held: _Held | None = st.session_state.get(f"_canvas_{key}")
    said: Any = st.session_state[key].get("choice")
    if held is None or not isinstance(said, Mapping) or said.get("revision") != held.picture.revision:
        return
    choice = choice_of(said, held.picture.shape)
    if choice is None or (not held.picture.shown.overview and choice.core[:3] != held.latest.core[:3]):
        return  # a head that stands alone is another one only where the page says so
    known = held.picture.exact or said.get("known") is True
    st.session_state[f"_canvas_{key}"] = replace(held, latest=choice, known=known)
    if on_change is not None:
        on_change(choice)


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
        choice, layer=min(max(choice.layer, 0), layers - 1), head=min(max(choice.head, 0), heads - 1),
        row=min(max(choice.row, 0), rows - 1), rows=within(choice.rows, rows), keys=within(choice.keys, keys),
    )  # fmt: skip
