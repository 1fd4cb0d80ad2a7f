"""How the pages look to this visitor: a button beside Share with the level, the language, and large type."""

from __future__ import annotations

import streamlit as st

from bartviz.app.controls import large_type
from bartviz.app.frame import languages, levels
from bartviz.language import _


def draw() -> None:
    """The button with the choices that hold for every page, and what large type adds to the page."""
    large_type.draw()
    with st.popover(_("Display"), key="display", icon=":material/tune:"):
        levels.choose()
        languages.choose()
        large_type.toggle()
