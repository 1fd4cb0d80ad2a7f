"""What did you understand? Questions made from this very text and model, one at a time."""

import streamlit as st

from bartviz.language import _
from bartviz.ui.controls import show
from bartviz.ui.frame import levels, page
from bartviz.ui.views.quiz import parts


def main() -> None:
    record = page.begin("quiz")
    st.html(parts.STYLE)
    asked = parts.choose(record)
    if asked.questions:
        parts.ask(asked)
    else:
        show.lead(_("This text has too little to ask for: take a longer one, with words."))
    levels.explain("quiz")


main()
