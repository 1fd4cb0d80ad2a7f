"""The parts of the experiments page: heads silenced, a token changed, how far a change is felt in one step."""

from __future__ import annotations

import streamlit as st

from bartviz.ui import pick

EXPERIMENTS = {"ablation": "Silence heads", "edit": "Change a token", "reach": "How far in one step"}
EXPERIMENT = "experiment"


def choose() -> str:
    """Which experiment: the link names it as the reader does, or by its short name."""
    asked = st.query_params.get(EXPERIMENT)
    if asked in EXPERIMENTS and EXPERIMENT not in st.session_state:
        st.session_state[EXPERIMENT] = asked
    return pick.one_of("Experiment", EXPERIMENTS, key=EXPERIMENT)
