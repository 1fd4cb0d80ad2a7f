"""Large type, for a projector: one switch, one key (Z), one word of the address (``large``) enlarges every page."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from bartviz.language import _
from bartviz.ui.components.scripts import bundle

KEY = "large"
FACTOR = 1.4  # of the type, and of all that is measured by it
BASE = 15  # pixels; theme.baseFontSize
_SCRIPT = Path(__file__).parents[1] / "components" / "lessons" / "large.js"
_LISTEN = st.components.v2.component("bartviz.large", html="<span></span>", js=bundle(_SCRIPT))
_STYLE = f"<style>:root {{ font-size: {BASE * FACTOR:.0f}px !important; }}</style><i class='bv-large'></i>"


def on() -> bool:
    """Whether this visitor has asked for large type."""
    return bool(st.session_state.get(KEY, False))


def begin() -> None:
    """Take what a link says before its page may be changed for another one, which forgets it."""
    if KEY not in st.session_state and st.query_params.get(KEY, "").lower() == "true":
        st.session_state[KEY] = True


def toggle() -> None:
    """The switch, in the sidebar: draws the large type where it is on, and what listens to its key."""
    large = st.toggle(
        _("Large type `Z`"), key=KEY, bind="query-params", help=_("For a projector: enlarges every page.")
    )
    with st.container(key="large_key"):
        if large:
            st.html(_STYLE)
        _LISTEN(key="large_listen")


def button() -> None:
    """The same switch as a small button, for a place where there is no room."""
    st.button(
        "",
        icon=":material/text_increase:",
        key="lesson_large",
        on_click=put,
        args=(not on(),),
        help=_("Large type, for a projector"),
        type="secondary" if on() else "tertiary",
    )


def put(large: bool) -> None:
    """Turn it on or off: a callback."""
    st.session_state[KEY] = large
