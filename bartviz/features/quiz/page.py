"""What have you understood? Questions made from the current text and model, one at a time."""

import streamlit as st

from bartviz.app.controls import show
from bartviz.app.frame import levels, page
from bartviz.features.quiz import parts
from bartviz.language import _


def main() -> None:
    record = page.begin("quiz")
    st.html(parts.STYLE)
    quiz, body = parts.choose(record)
    with body:
        if quiz.questions and quiz.ended:
            parts.result(quiz)
        elif quiz.questions:
            parts.ask(quiz)
        else:
            show.lead(_("This text is too short for a quiz: choose a longer one, with words."))
    levels.explain("quiz")
