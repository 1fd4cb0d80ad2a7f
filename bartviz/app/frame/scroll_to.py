"""Scroll to the top of a page that was opened, or to the part that its link refers to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from bartviz.app.components.invisible import unseen

_SCRIPT = Path(__file__).parents[1] / "components" / "scroll_to" / "scroll_to.js"
_SCROLL = unseen("scroll_to", _SCRIPT)
_SEEN = "_scroll_to"

# Words of an address that choose something below the main picture of a page -> the CSS selector of that part.
PARTS = {word: f".st-key-{word}" for word in ("n", "around", "about", "more", "below", "see")} | {
    "line": ".bv-claim:has(details[open])"
}


@dataclass
class _Target:
    """The open page, the word of its link that names a part ("": none), and how often it was to go to its top again."""

    page: str = ""
    name: str = ""
    ups: int = 0


def begin(word: str) -> None:
    """Scroll to the top of the page ``word`` when it is opened, or to the part that its link asks for.

    Only the address at the time the page is opened counts; later choices on the page do not scroll. A word that has
    gone from the address counts no more: a visitor may leave and return before the page between was drawn. Takes no
    space on the page.
    """
    query, target = st.query_params.to_dict(), st.session_state.setdefault(_SEEN, _Target())
    if target.page != word:
        target.name = next((name for name in PARTS if name in query), "")
        target.page = word
    elif target.name not in query:
        target.name = ""
    with st.container(key="scroll_to"):
        _SCROLL(data={"page": word, "part": PARTS.get(target.name, ""), "ups": target.ups}, key="scroll_to_part")


def top() -> None:
    """Scroll to the top of the open page, whose picture is about to change: a callback."""
    target = st.session_state.setdefault(_SEEN, _Target())
    target.name, target.ups = "", target.ups + 1
