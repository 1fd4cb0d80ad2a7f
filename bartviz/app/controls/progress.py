"""The progress of a run: its position in the queue or its current work, and a button that cancels it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import streamlit as st

from bartviz.app.state import url_state
from bartviz.language import _, plural
from bartviz.serving import drawing_turns
from bartviz.serving.engine import Run

if TYPE_CHECKING:
    from bartviz.app.streamlit_internals import DeltaGenerator

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
        run, by_timer = look(), drawn
        if by_timer and run is not None:
            run.retry()
            run.wait((pause - POLL) / 2)
        drawn = True
        if run is None or run.finished:
            if by_timer:
                url_state.polled()
            st.rerun()
        draw(run, key=key)

    st.fragment(again, run_every=pause)()


def watch(look: Callable[[], Run[Any] | None], *, key: str, seconds: float) -> None:
    """Draw the run that ``look`` returns, and stay in this script run until it has ended, for a limited number of
    seconds.

    No script run is needed to show the result. ``look`` reads the session: there Streamlit ends this script run if the
    visitor has clicked meanwhile.
    """
    run, end = look(), time.monotonic() + seconds
    if run is None:
        return
    bar, shown = draw(run, key=key), in_words(run)
    while look() is run and not run.finished and (left := end - time.monotonic()) > 0:
        with drawing_turns.aside():
            run.wait(min(left, POLL))
        if not run.finished and (now := in_words(run)) != shown:
            bar.progress(now[1], text=now[0])
            shown = now


def draw(run: Run[Any], *, key: str) -> DeltaGenerator:
    """One progress line for a run, whose bar is returned; ``key`` is that of its button."""
    text, fraction = in_words(run)
    left, right = st.columns([5, 1], vertical_alignment="center")
    bar = left.progress(fraction, text=text)
    right.button(_("Cancel"), key=key, on_click=run.cancel, width="stretch")
    return bar


def in_words(run: Run[Any]) -> tuple[str, float]:
    """The current stage of the run, or its position in the queue, and the fraction done."""
    note, fraction = run.progress
    message, before = _(note), run.position
    if run.state == "waiting" and before:
        message = plural("Waiting: {count} run before this one", "Waiting: {count} runs before this one", before)
    return message or _("Starting"), min(max(fraction or 0.0, 0.0), 1.0)
