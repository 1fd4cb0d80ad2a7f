"""What the fields of the popover "Display" hold, which buttons elsewhere choose, too.

A browser has the fields of a popover only while it is open: with every request it sends what they had when they were
last on the screen, and what a button chose since would be undone by the next click.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

POPOVER = "display"
_HELD, _SENT, _PUT, _WAS_OPEN = "_display_held", "_display_sent", "_display_put", "_display_was_open"


def begin() -> None:
    """Let the fields have what was last chosen: every script run calls this first.

    A field's own value counts if the popover was open or if the value is another than the request before had:
    whoever opens the popover and chooses at once does both in one request.
    """
    was_open = st.session_state.get(_WAS_OPEN, False)
    st.session_state[_WAS_OPEN] = bool(st.session_state.get(POPOVER, False))
    sent, put_now = _kept(_SENT), _kept(_PUT)
    for key, value in _kept(_HELD).items():
        if key not in st.session_state or key in put_now:
            continue
        is_chosen = was_open or st.session_state[key] != sent.get(key, st.session_state[key])
        sent[key] = st.session_state[key]
        if not is_chosen and st.session_state[key] != value:
            st.session_state[key] = value
    put_now.clear()


def put(key: str, value: object) -> None:
    """Choose for the visitor, from a button elsewhere: a callback."""
    st.session_state[key] = _kept(_HELD)[key] = _kept(_PUT)[key] = value


def keep(*keys: str) -> None:
    """Remember what the fields hold, once they are drawn."""
    for key in keys:
        if key in st.session_state:
            _kept(_HELD)[key] = st.session_state[key]
            _kept(_SENT).setdefault(key, st.session_state[key])


def _kept(name: str) -> dict[str, Any]:
    kept: dict[str, Any] = st.session_state.setdefault(name, {})
    return kept
