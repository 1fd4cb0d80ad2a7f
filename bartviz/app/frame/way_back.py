"""The way back from what a link of another page chose: the link's address says which page it came from."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from bartviz.app.frame import page_list
from bartviz.language import _

KEY = "from"
_HERE = "_here"


def begin(word: str) -> None:
    """Note which page is open, and draw the link back to the page that led here, if one did."""
    st.session_state[_HERE] = word
    origin = st.query_params.get(KEY, "")
    if origin != word and page_list.has(origin):
        page = page_list.page(origin)
        label = _("Back to {page}", page=_(page.label))
        with st.container(key="way_back"):
            st.page_link(page.file, label=label, icon=":material/arrow_back:")


def from_here(to: str, query: Mapping[str, str] | None) -> dict[str, str]:
    """The words of a link to the page ``to``; if they choose something there, they also say where the link is."""
    here = st.session_state.get(_HERE, "")
    return {**query, KEY: here} if query and here not in ("", to) else dict(query or {})
