"""Large type for projectors: one switch, one key (Z) and one word of the address (``large``) enlarge every page, which
then has the whole window: a button lays the sidebar and the menu over it until a page is chosen or a text is run."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from bartviz.app.components.invisible import unseen
from bartviz.app.state import display_fields, session
from bartviz.language import _
from bartviz.lazy import FEATURES

KEY = "large"
FACTOR = 1.4  # for the type, and everything sized relative to it
BASE = 15  # pixels; theme.baseFontSize
_SCRIPT = Path(__file__).parents[1] / "components" / "lessons" / "large.js"
_LISTEN = unseen("large", _SCRIPT)
_FILES = (Path(__file__).with_name("large.css"), *sorted(FEATURES.glob("*/large.css")))
_RULES = "\n".join(file.read_text("utf-8") for file in _FILES)
_ROOT = f":root {{ font-size: {BASE * FACTOR:.0f}px !important; --bv-large: {FACTOR}; }}"
_STYLE = f"<style>{_ROOT}\n{_RULES}</style><i class='bv-large'></i>"
_MENU = "_large_menu"  # the page and the run over which the menu was opened
MENU = "<i class='bv-over'></i>"  # where a page has it, the menu is shown in large type, too


def on() -> bool:
    """Whether large type is on for this visitor."""
    return bool(st.session_state.get(KEY, False))


def begin() -> None:
    """Read the word from a link early: it is lost if the app switches to another page."""
    if KEY not in st.session_state and st.query_params.get(KEY, "").lower() == "true":
        st.session_state[KEY] = True


def toggle() -> None:
    """The switch."""
    st.toggle(
        _("Large type"),
        key=KEY,
        bind="query-params",
        help=_(
            "For a projector: enlarges every page; on a wide screen the sidebar and the menu are then behind a button. "
            "On a keyboard: Z."
        ),
    )


def draw(page: str) -> None:
    """The style if it is on, the button of the menu over the page of that word, the key listener, and the button that
    it presses."""
    here = page, st.session_state.get(session.ASKED)
    is_open = on() and st.session_state.get(_MENU) == here
    st.button(
        _("Usual type") if on() else _("Projector"),
        icon=":material/fullscreen_exit:" if on() else ":material/fullscreen:",
        key="large_switch",
        on_click=put,
        args=(not on(),),
        help=_("Back to the usual type (Z)") if on() else _("Large type, for a projector"),
    )
    if on():
        st.button(
            _("Menu"),
            icon=":material/close:" if is_open else ":material/menu:",
            key="large_menu",
            on_click=_open,
            args=(None if is_open else here,),
            help=_("Close the menu") if is_open else _("Other pages and your own text; the type stays large"),
        )
    with st.container(key="large_key"):
        if on():
            st.html(_STYLE + MENU * is_open)
        _LISTEN(key="large_listen")


def _open(over: tuple[str, object] | None) -> None:
    """Lay the menu over this page and run, or close it: a callback."""
    st.session_state[_MENU] = over


def button() -> None:
    """The same switch as a small button, for tight spaces."""
    st.button(
        _("Large type, for a projector"),
        icon=":material/text_increase:",
        key="lesson_large",
        on_click=put,
        args=(not on(),),
        help=_("Large type, for a projector"),
        type="secondary" if on() else "tertiary",
    )


def put(large: bool) -> None:
    """Turn large type on or off: a callback."""
    display_fields.put(KEY, large)
