"""The frame of the app and of each page: navigation, guard, title, status line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, overload

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from bartviz.ui import registry, session

if TYPE_CHECKING:
    from bartviz.record import Record

ICON = str(registry.ROOT / "bartviz" / "ui" / "icon.png")
_FRAME = "_frame"


def frame() -> StreamlitPage:
    """Name the app and its pages; ``app.py`` calls this first and runs what it returns."""
    navigation = _navigation()
    st.session_state[_FRAME] = True
    return navigation


def _navigation() -> StreamlitPage:
    st.set_page_config(page_title="bartviz", page_icon=ICON, layout="wide")
    pages = [
        st.Page(entry.file, title=entry.label, url_path=None if first else entry.word, default=first)
        for entry, first in ((entry, entry is registry.PAGES[0]) for entry in registry.PAGES)
        if entry.file.exists()
    ]
    return st.navigation(pages)


def _guard() -> None:
    """Go back through ``app.py`` when Streamlit ran this page alone.

    A folder named ``pages`` starts each server in the old multipage mode until ``st.navigation`` has run once: a deep
    link that comes first would show one page without sidebar and state.
    """
    if not st.session_state.pop(_FRAME, False):
        _navigation()
        st.rerun()


@overload
def begin(word: str) -> Record: ...
@overload
def begin(word: str, *, needs_record: Literal[True]) -> Record: ...
@overload
def begin(word: str, *, needs_record: Literal[False]) -> Record | None: ...
def begin(word: str, *, needs_record: bool = True) -> Record | None:
    """First call of each page: the guard, the page's title as a question, and the status line.

    Gives the current Record. Without one, a page that needs it draws the empty state (with the next action) and stops
    here; with ``needs_record=False`` the page goes on with None.
    """
    _guard()
    st.title(registry.page(word).title)
    record = session.current_record()
    if record is None and needs_record:
        st.info("Type a text in the sidebar and press **Run**.")
        st.stop()
    return record


def dark() -> bool:
    """Whether the visitor sees the dark theme: pass it to every figure."""
    return st.context.theme.type == "dark"
