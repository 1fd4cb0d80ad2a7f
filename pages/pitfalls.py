"""How can attention fool us? Five pitfalls, each computed from the current text."""

import streamlit as st

from bartviz.analysis import fooled as analysis
from bartviz.language import _
from bartviz.ui.controls import show
from bartviz.ui.frame import levels, page
from bartviz.ui.views import fooled


def main() -> None:
    record = page.begin("fooled")
    show.lead(_(fooled.LEAD))
    for number, part in enumerate(fooled.PARTS):
        with st.container(key=f"fooled_{number}"):
            part(record)
    levels.explain("fooled")
    show.downloads("fooled", table=lambda: analysis.table(record, fooled.by_hand(record)), record=record)


main()
