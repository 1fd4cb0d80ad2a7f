"""The parts of the experiments page: silence heads, change a token, and follow how far a change reaches."""

from __future__ import annotations

import streamlit as st

from bartviz.app.controls import pick, show
from bartviz.language import _, mark, named

NAMES = {"ablation": mark("silence heads"), "edit": mark("change a token"), "reach": mark("reach of a change")}
EXPERIMENTS = {
    "ablation": mark("What does the model write when a head is silenced?"),
    "edit": mark("What changes inside the model when one token is replaced?"),
    "reach": mark("How many steps (layers) does a change take to reach a word far away? Three masks compared."),
}


def choose() -> str:
    """The experiment (URL ``experiment``), and its question."""
    with st.container(key="experiment_row", horizontal=True, vertical_alignment="bottom", gap="medium"):
        chosen = pick.one_of(_("Experiment"), named(NAMES), key="experiment")
        show.what_to_do(_(EXPERIMENTS[chosen]))
    return chosen
