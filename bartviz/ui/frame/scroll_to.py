"""A link that speaks of something far below brings it into sight: the page does not begin at its top then."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from bartviz.ui.components.scripts import bundle

_SCRIPT = Path(__file__).parents[1] / "components" / "sight" / "sight.js"
_BRING = st.components.v2.component("bartviz.sight", html="<span></span>", js=bundle(_SCRIPT))
_SIGHT = "_sight"

# Words of an address that choose something below the hero of their page, and where that is.
PARTS = {word: f".st-key-{word}" for word in ("n", "around", "about", "more", "below", "see")} | {
    "line": ".bv-claim:has(details[open])"
}


@dataclass
class _Sight:
    """The page that is open, how many were before it, and what its link spoke of ("": nothing)."""

    page: str = ""
    visit: int = 0
    part: str = ""


def begin(word: str) -> None:
    """Draw what brings a part of the page ``word`` into sight, where a link has asked for one. Takes no room.

    Asked is what stands in the address when the page is opened; what is chosen on the page later moves nothing.
    """
    query, sight = st.query_params.to_dict(), st.session_state.setdefault(_SIGHT, _Sight())
    if sight.page != word:
        sight.part = next((place for name, place in PARTS.items() if name in query), "")
        sight.visit += 1
        sight.page = word
    if sight.part:
        with st.container(key="sight"):
            _BRING(data={"visit": sight.visit, "part": sight.part}, key="sight_bring")
