"""Fixes for keyboard and touch events of Streamlit and plotly.

Ctrl+Enter in a text field of a page applies that field instead of pressing Run in the sidebar. A tap on a chart acts at
once instead of showing a tip first, and a swipe scrolls the page instead of zooming the chart.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from bartviz.app.components.invisible import unseen

_SCRIPT = Path(__file__).parents[1] / "components" / "listeners" / "listeners.js"
_LISTEN = unseen("listeners", _SCRIPT)


def begin() -> None:
    """Add the listeners; they take no space on the page."""
    with st.container(key="listeners"):
        _LISTEN(key="listeners_begin")
