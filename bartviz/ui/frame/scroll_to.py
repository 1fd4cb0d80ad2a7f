"""Scroll to the part of a page that a link refers to, instead of starting at the top."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from bartviz.ui.components.unseen import unseen

_SCRIPT = Path(__file__).parents[1] / "components" / "sight" / "sight.js"
_SCROLL = unseen("sight", _SCRIPT)
_SIGHT = "_sight"

# Words of an address that choose something below the main picture of a page -> the CSS selector of that part.
PARTS = {word: f".st-key-{word}" for word in ("n", "around", "about", "more", "below", "see")} | {
    "line": ".bv-claim:has(details[open])"
}


@dataclass
class _Target:
    """The open page, the number of pages opened so far, and the part that its link refers to ("": none)."""

    page: str = ""
    visit: int = 0
    part: str = ""


def begin(word: str) -> None:
    """Scroll to the part of the page ``word`` that its link asks for, if any. Takes no space on the page.

    Only the address at the time the page is opened counts; later choices on the page do not scroll.
    """
    query, sight = st.query_params.to_dict(), st.session_state.setdefault(_SIGHT, _Target())
    if sight.page != word:
        sight.part = next((selector for name, selector in PARTS.items() if name in query), "")
        sight.visit += 1
        sight.page = word
    if sight.part:
        with st.container(key="sight"):
            _SCROLL(data={"visit": sight.visit, "part": sight.part}, key="sight_bring")
