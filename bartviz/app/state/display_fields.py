"""What the fields of the popover "Display" hold, which buttons elsewhere choose, too.

A browser has the fields of a popover only while it is open: with every request it sends what they had when they were
last on the screen, and what a button chose since would be undone by the next click.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

POPOVER = "display"
_HELD, _WAS_OPEN = "_display_held", "_display_was_open"


def begin() -> None:
    """Let the fields have what was last chosen, unless the popover was open: every script run calls this first."""
    was_open = st.session_state.get(_WAS_OPEN, False)
    st.session_state[_WAS_OPEN] = bool(st.session_state.get(POPOVER, False))
    if not was_open:
        for key, value in _held().items():
            if key in st.session_state and st.session_state[key] != value:
                st.session_state[key] = value


def put(key: str, value: object) -> None:
    """Choose for the visitor, from a button elsewhere: a callback."""
    st.session_state[key] = _held()[key] = value


def keep(*keys: str) -> None:
    """Remember what the fields hold, once they are drawn."""
    _held().update({key: st.session_state[key] for key in keys if key in st.session_state})


def _held() -> dict[str, Any]:
    held: dict[str, Any] = st.session_state.setdefault(_HELD, {})
    return held
