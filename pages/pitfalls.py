"""How can attention fool us? Five pitfalls, each computed from the current text."""

import streamlit as st

from bartviz.analysis import pitfalls as analysis
from bartviz.language import _
from bartviz.ui.controls import show
from bartviz.ui.frame import levels, page
from bartviz.ui.views import pitfalls


def main() -> None:
    record = page.begin("pitfalls")
    show.lead(_(pitfalls.LEAD))
    for number, part in enumerate(pitfalls.PARTS):
        with st.container(key=f"pitfalls_{number}"), show.or_missing():
            part(record)
    levels.explain("pitfalls")
    show.downloads("pitfalls", table=lambda: analysis.table(record, pitfalls.by_hand(record)), record=record)


main()
