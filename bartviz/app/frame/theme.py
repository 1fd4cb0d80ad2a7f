"""Light or dark theme, with a new script run when it changes; and the language of the document."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from bartviz.app.components.invisible import unseen
from bartviz.language import current

_SCRIPT = Path(__file__).parents[1] / "components" / "theme" / "theme.js"
_WATCH = unseen("theme", _SCRIPT)


def dark() -> bool:
    """Whether the visitor uses the dark theme."""
    return st.context.theme.type == "dark"


def watch() -> None:
    """Request a new script run when the theme differs from that of this run. Takes no space on the page."""
    with st.container(key="theme"):
        _WATCH(data={"dark": dark(), "lang": current()}, key="theme_watch", on_changed_change=lambda: None)
