"""The parts of the experiments page: heads silenced, a token changed, how far a change is felt in one step."""

from __future__ import annotations

import streamlit as st

from bartviz.ui import pick, show

EXPERIMENTS = {
    "ablation": "... heads are silenced, or made louder? What each is worth here, and what the model then says.",
    "edit": "... one token is another one? Which states, rows of attention and predictions hear of it.",
    "reach": "... a word is far away? How many steps its news needs, under three masks.",
}


def choose() -> str:
    """Which experiment (URL ``experiment``), and in words what it asks."""
    left, right = st.columns([1, 3], vertical_alignment="bottom")
    with left:
        chosen = pick.one_of("What changes if ...", list(EXPERIMENTS), key="experiment")
    with right:
        show.note(EXPERIMENTS[chosen])
    return chosen
