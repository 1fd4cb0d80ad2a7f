"""How can attention fool us? Five pitfalls, each computed from the current text."""

import streamlit as st

from bartviz.app.controls import show
from bartviz.app.frame import levels, page
from bartviz.features.pitfalls import numbers as analysis
from bartviz.features.pitfalls.parts_rerun import judged, silence, surprise, untrained
from bartviz.features.pitfalls.parts_seen import averages, by_hand, shifted, sinks, weight_and_effect
from bartviz.language import _, mark

LEAD = mark("A picture of attention shows where a head looks, not why the model says what it says.")
PARTS = (averages, sinks, shifted, untrained)
ON_REQUEST = (silence, judged)  # tests of the first pitfall


def main() -> None:
    record = page.begin("pitfalls")
    show.lead(_(LEAD))
    with st.container(key="pitfalls_1"), show.or_missing():
        weight_and_effect(record)
    if not record.from_weights:
        with st.container(key="pitfalls_surprise"), show.or_missing():
            surprise(record)
    for column, part in zip(st.columns(len(ON_REQUEST), gap="medium"), ON_REQUEST, strict=True):
        with column, show.or_missing():
            part(record)
    for number, part in enumerate(PARTS, 2):
        with st.container(key=f"pitfalls_{number}"), show.or_missing():
            part(record)
    levels.explain("pitfalls")
    show.downloads("pitfalls", table=lambda: analysis.table(record, by_hand(record)), record=record)
