"""Where do I begin? Guided tours over the pages of the app."""

from pathlib import Path

import streamlit as st

from bartviz.app.controls import progress as run_progress
from bartviz.app.controls import show
from bartviz.app.frame import levels, page
from bartviz.app.state import session
from bartviz.features.lessons import parts_cards as cards
from bartviz.features.lessons import parts_lesson_state as state
from bartviz.features.lessons import parts_progress as progress
from bartviz.language import _

PATIENCE = 60.0  # seconds that a script run waits for the record of a visitor's own text
STYLE = Path(cards.__file__).with_name("style.css")


def main() -> None:
    _read_own()
    page.begin("lessons", needs_record=False)
    st.html(STYLE)
    progress.recall()
    cards.ended()
    with st.container(key="lessons_lead"):
        show.lead(cards.lead())
        show.note(
            _("Your progress is stored in this browser."),
            keys=_("Keys in a lesson: N skip or next, B back, A answer, Z large type."),
        )
    cards.cards()
    levels.explain("lessons")


def _read_own() -> None:
    """While a model reads the visitor's own text, show its progress alone. No timer asks for it: its last request would
    come when the page of the first step is drawn already."""
    if state.current().awaited is None or session.running() is None:
        return
    with st.empty():
        run_progress.watch(session.running, key="cancel_own", seconds=PATIENCE)
    st.rerun()
