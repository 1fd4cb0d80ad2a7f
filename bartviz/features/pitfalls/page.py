"""How can attention fool us? Five pitfalls, each computed from the current text."""

import streamlit as st

from bartviz.app.controls import show
from bartviz.app.frame import levels, page
from bartviz.features.pitfalls import numbers as analysis
from bartviz.features.pitfalls.parts_rerun import judged, silence, surprise, untrained
from bartviz.features.pitfalls.parts_seen import averages, by_hand, shifted, sinks, weight_and_effect
from bartviz.language import _, mark

LEAD = mark("A picture of attention shows where a head looks, not why the model says what it says.")
PARTS = (weight_and_effect, silence, judged, averages, sinks, shifted, untrained)


def main() -> None:
    record = page.begin("pitfalls")
    show.lead(_(LEAD))
    if not record.from_weights:
        with st.container(key="pitfalls_surprise"), show.or_missing():
            surprise(record)
    for number, part in enumerate(PARTS):
        with st.container(key=f"pitfalls_{number}"), show.or_missing():
            part(record)
    levels.explain("pitfalls")
    show.downloads("pitfalls", table=lambda: analysis.table(record, by_hand(record)), record=record)
