"""Where do I begin? Guided tours over the pages of the app."""

from pathlib import Path

import streamlit as st

from bartviz.app.controls import show
from bartviz.app.frame import levels, page
from bartviz.features.lessons import parts_cards as cards
from bartviz.features.lessons import parts_progress as progress
from bartviz.language import _

STYLE = Path(cards.__file__).with_name("style.css")


def main() -> None:
    page.begin("lessons", needs_record=False)
    progress.recall()
    cards.ended()
    show.lead(cards.lead())
    show.note(
        _(
            "The address of each step is a link to it. What you do in between is up to you: every control "
            "works. Your progress is stored in this browser."
        ),
        keys=_("Keys in a lesson: N next, B back, A answer, Z large type."),
    )
    cards.cards()
    levels.explain("lessons")
    st.html(STYLE)
