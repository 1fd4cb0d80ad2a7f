"""What did you understand? Questions made from the current text and model, one at a time."""

import streamlit as st

from bartviz.language import _
from bartviz.ui.controls import show
from bartviz.ui.frame import levels, page
from bartviz.ui.views.quiz import parts


def main() -> None:
    record = page.begin("quiz")
    st.html(parts.STYLE)
    quiz = parts.choose(record)
    if quiz.questions:
        parts.ask(quiz)
    else:
        show.lead(_("This text is too short for a quiz: choose a longer one, with words."))
    levels.explain("quiz")


main()
