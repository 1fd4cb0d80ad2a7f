"""The menu marks the section of the open page; on a phone it closes when a page is chosen or a run begins, and its
button says what it opens."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from bartviz.app.components.invisible import unseen
from bartviz.language import _

_LISTEN = unseen("menu", Path(__file__).parents[1] / "components" / "menu" / "menu.js")


def draw(section: str) -> None:
    """Add the listener, and the button's word for style.css; they take no space on the page. ``section``: the label of
    the open page's, as the bar has it; empty on the start page."""
    with st.container(key="menu"):
        st.html(f"<style>:root {{ --bv-menu: '{_('Menu')}'; --bv-sidebar: '{_('Model and text')}'; }}</style>")
        _LISTEN(key="menu_listen", data={"section": section, "open": _("Open the menu"), "close": _("Close the menu")})
