"""How the pages look to this visitor: a button beside Share with the level, the language, and large type."""

from __future__ import annotations

import streamlit as st

from bartviz.app.controls import large_type
from bartviz.app.frame import languages, levels
from bartviz.app.state import display_fields
from bartviz.language import _

# first.css draws every page as a beginner's until the server has said which level it is. The browser's own menu has the
# theme, which follows the system, and what developers need. The line under the title is empty for beginners, until a
# text runs or has a notice: half its place is enough.
_BEGINNER = (
    ":root:root { --bv-extras: none; --bv-right: 15px; --bv-status: -0.8rem } "
    "[data-testid='stMainMenu'] { display: none }"
)
_OTHERS = ":root:root { --bv-extras: initial; --bv-right: initial; --bv-status: 0px }"


def draw(page: str) -> None:
    """The buttons with the choices that hold for every page, and the styles of large type and of the level.

    ``page``: its word in the address. The button names the other language, for those who cannot read this one.
    ``--bv-extras: none`` leaves out of a picture what a beginner does not need."""
    large_type.draw(page)
    st.html(f"<style>{_OTHERS if levels.at_least('intermediate') else _BEGINNER}</style>")
    with st.popover(
        f"{_('Display')} · {languages.others()}",
        key=display_fields.POPOVER,
        icon=":material/language:",
        on_change="rerun",
    ):
        levels.choose()
        languages.choose()
        large_type.toggle()
    display_fields.keep(levels.KEY, languages.KEY, large_type.KEY)
