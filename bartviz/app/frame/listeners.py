"""Fixes for keyboard and touch events of Streamlit and plotly, files that are dropped on a page, and Streamlit's words.

Ctrl+Enter in a text field of a page applies that field instead of pressing Run in the sidebar. A tap on a chart acts at
once instead of showing a tip first, and a swipe scrolls the page instead of zooming the chart. A file that is dropped
anywhere reaches the sidebar's uploader. Streamlit has its own words in English only: they are in the page's language.
The browser keeps the visitor's own text as long as its tab is open.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import streamlit as st

from bartviz.app.components.invisible import unseen
from bartviz.app.frame import uploads
from bartviz.app.state import upload_limits
from bartviz.language import _, mark

_SCRIPT = Path(__file__).parents[1] / "components" / "listeners" / "listeners.js"
_LISTEN = unseen("listeners", _SCRIPT)
_KEY = "listeners_begin"
# What Streamlit writes, and the names that screen readers hear; {any} stands for any text.
PHRASES = (
    mark("Upload"),
    mark("{any} per file"),
    mark("file upload"),
    mark("Choose an option"),
    mark("Choose options"),
    mark("Choose or add an option"),
    mark("No results"),
    mark("Add: {any}"),
    mark("Press Enter to apply"),
    mark("Press {any} to apply"),
    mark("Press {any} to submit form"),
    mark("Skip to main content"),
    mark("Open"),
    mark("Clear all"),
    mark("Remove {any}"),
    mark("Selected values"),
    mark("Help"),
    mark("Help for {any}"),
    mark("Shortcut {any}"),
    mark("progress"),
    mark("Sidebar"),
    mark("Collapse sidebar"),
    mark("Expand sidebar"),
    mark("App pages"),
    mark("Main menu"),
    mark("Navigate to home page"),
    mark("Download plot"),
    mark("Reset axes"),
    mark("Zoom in"),
    mark("Zoom out"),
    mark("Pan"),
    mark("Autoscale"),
    mark("Fullscreen"),
    mark("Close fullscreen"),
    mark("Search"),
    mark("Download as CSV"),
    mark("Show/hide columns"),
    mark("Copy to clipboard"),
    mark("Close"),
)


def begin(own: Mapping[str, str] | None, *, asks: bool, on_kept: Callable[[object], None]) -> None:
    """Add the listeners; they take no space on the page.

    ``own``: what the browser keeps in its tab, None for what it has; if the session ``asks``, ``on_kept`` is called
    with that.
    """

    def tell() -> None:
        on_kept(st.session_state[_KEY].kept)

    with st.container(key="listeners"):
        st.html(f"<style>:root {{ --bv-drop: '{_('Drop the file here to open it')}'; }}</style>")
        phrases = {phrase: said for phrase in PHRASES if (said := _(phrase)) != phrase}
        limit = upload_limits.largest() * 1_000_000
        data = json.dumps({"limit": limit, "phrases": phrases, "own": own, "asks": asks}).encode()
        _LISTEN(key=_KEY, data=data, on_refused_change=_refuse, on_kept_change=tell)


def _refuse() -> None:
    """The browser has not sent a file that is too large: a callback."""
    file = st.session_state[_KEY].refused
    uploads.refuse_size(str(file["name"]), float(file["size"]))
