"""The progress of a run: its position in the queue or its current work, and a button that cancels it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from bartviz.language import _, plural
from bartviz.serving.engine import Run

POLL = 0.4  # seconds between two polls of a run
SELDOM = 2.0  # seconds, for a run far back in the queue


def follow(look: Callable[[], Run[Any] | None], *, key: str) -> None:
    """Draw the run that ``look`` returns, in place, and rerun the page when it has ended; ``key`` is its button's.

    Each poll is a script run. A run far back in the queue is polled less often, and each poll then waits a little in
    case the queue moves faster than expected.
    """
    first = look()
    pause = min(max(first.due / 4, POLL), SELDOM) if first is not None else POLL
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
    """One progress line for a run; ``key`` is that of its button."""
    note, fraction = run.progress
    message, before = _(note), run.position
    if run.state == "waiting" and before:
        message = plural("Waiting: {count} run before this one", "Waiting: {count} runs before this one", before)
    bar, button = st.columns([5, 1], vertical_alignment="center")
    bar.progress(min(max(fraction or 0.0, 0.0), 1.0), text=message or _("Starting"))
    button.button(_("Cancel"), key=key, on_click=run.cancel, width="stretch")
