"""Fixes for keyboard and touch events of Streamlit and plotly, and files that are dropped on a page.

Ctrl+Enter in a text field of a page applies that field instead of pressing Run in the sidebar. A tap on a chart acts at
once instead of showing a tip first, and a swipe scrolls the page instead of zooming the chart. A file that is dropped
anywhere reaches the sidebar's uploader.
"""

from __future__ import annotations

import json
from pathlib import Path

import streamlit as st

from bartviz.app.components.invisible import unseen
from bartviz.app.frame import uploads
from bartviz.app.state import upload_limits
from bartviz.language import _

_SCRIPT = Path(__file__).parents[1] / "components" / "listeners" / "listeners.js"
_LISTEN = unseen("listeners", _SCRIPT)
_KEY = "listeners_begin"


def begin() -> None:
    """Add the listeners; they take no space on the page."""
    with st.container(key="listeners"):
        st.html(f"<style>:root {{ --bv-drop: '{_('Drop the file here to open it')}'; }}</style>")
        data = json.dumps({"limit": upload_limits.largest() * 1_000_000}).encode()
        _LISTEN(key=_KEY, data=data, on_refused_change=_refuse)


def _refuse() -> None:
    """The browser has not sent a file that is too large: a callback."""
    file = st.session_state[_KEY].refused
    uploads.refuse_size(str(file["name"]), float(file["size"]))
