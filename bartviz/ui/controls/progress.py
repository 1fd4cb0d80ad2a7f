"""How far a run is: its place in the queue or what it does now, and a button that stops it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from bartviz.language import _, plural
from bartviz.serving.engine import Run

POLL = 0.4  # seconds between two looks at a run
SELDOM = 2.0  # between two looks at one that waits far back


def follow(look: Callable[[], Run[Any] | None], *, key: str) -> None:
    """Draw the run that ``look`` finds, in place, and the page anew when it has ended; ``key`` names its button.

    A look is a script run. Who waits far back looks seldom, and stays a while in case it goes faster than it did.
    """
    begun = look()
    pause = min(max(begun.due / 4, POLL), SELDOM) if begun is not None else POLL
    drawn = False

    def again() -> None:
        nonlocal drawn
        run = look()
        if drawn and run is not None:
            run.retry()
            run.wait((pause - POLL) / 2)
        drawn = True
        if run is None or run.finished:
            st.rerun()
        draw(run, key=key)

    st.fragment(again, run_every=pause)()


def draw(run: Run[Any], *, key: str) -> None:
    """One line for a run that has not ended, in place; ``key`` names its button."""
    note, fraction = run.progress
    said, before = _(note), run.position
    if run.state == "waiting" and before:
        said = plural("Waiting: {count} run before this one", "Waiting: {count} runs before this one", before)
    bar, button = st.columns([5, 1], vertical_alignment="center")
    bar.progress(min(max(fraction or 0.0, 0.0), 1.0), text=said or _("Starting"))
    button.button(_("Cancel"), key=key, on_click=run.cancel, width="stretch")
