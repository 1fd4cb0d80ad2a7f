"""What did you understand? Questions made from this very text and model, one at a time."""

import streamlit as st

from bartviz.language import _
from bartviz.ui import quiz
from bartviz.ui.controls import show
from bartviz.ui.frame import levels, page


def main() -> None:
    record = page.begin("quiz")
    st.html(quiz.STYLE)
    asked = quiz.choose(record)
    if asked.questions:
        quiz.ask(asked)
    else:
        show.lead(_("This text has too little to ask for: take a longer one, with words."))
    levels.explain("quiz")


main()
