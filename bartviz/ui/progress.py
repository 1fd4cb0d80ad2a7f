"""How far a run is: its place in the queue or what it does now, and a button that stops it."""

from __future__ import annotations

from typing import Any

import streamlit as st

from bartviz.language import _, plural
from bartviz.ui.engine import Run

POLL = 0.4  # seconds between two looks at a run


def draw(run: Run[Any], *, key: str) -> None:
    """One line for a run that has not ended, in place; ``key`` names its button."""
    note, fraction = run.progress
    said, before = _(note), run.position
    if run.state == "waiting" and before:
        said = plural("Waiting: {count} run before this one", "Waiting: {count} runs before this one", before)
    bar, button = st.columns([5, 1], vertical_alignment="center")
    bar.progress(min(max(fraction or 0.0, 0.0), 1.0), text=said or _("Starting"))
    button.button(_("Cancel"), key=key, on_click=run.cancel, width="stretch")
