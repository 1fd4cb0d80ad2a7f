"""Light or dark: what the visitor sees, and a new run as soon as that changes; and the language of the document."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from bartviz.language import current
from bartviz.ui.components.scripts import bundle

_SCRIPT = Path(__file__).parents[1] / "components" / "theme" / "theme.js"
_WATCH = st.components.v2.component("bartviz.theme", html="<span></span>", js=bundle(_SCRIPT))


def dark() -> bool:
    """Whether the visitor sees the dark theme."""
    return st.context.theme.type == "dark"


def watch() -> None:
    """Ask for a new run when the theme is no longer the one that this run draws for. Takes no room."""
    with st.container(key="theme"):
        _WATCH(data={"dark": dark(), "lang": current()}, key="theme_watch", on_changed_change=lambda: None)
