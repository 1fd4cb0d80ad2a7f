"""On a phone the sidebar closes when a page is chosen or a run begins."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from bartviz.ui.components.unseen import unseen

_CLOSE = unseen("menu", Path(__file__).parents[1] / "components" / "menu" / "menu.js")


def close() -> None:
    """Add the listener; it takes no space on the page."""
    with st.container(key="menu"):
        _CLOSE(key="menu_close")
