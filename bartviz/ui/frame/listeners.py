"""Ctrl+Enter in a text field of a page applies that field instead of pressing Run in the sidebar."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from bartviz.ui.components.unseen import unseen

_SCRIPT = Path(__file__).parents[1] / "components" / "listeners" / "keys.js"
_KEEP = unseen("keys", _SCRIPT)


def keep() -> None:
    """Add the key listener; it takes no space on the page."""
    with st.container(key="keys"):
        _KEEP(key="keys_keep")
