"""How can attention fool us? Five pitfalls, each computed from the current text."""

import streamlit as st

from bartviz.app.controls import show
from bartviz.app.frame import levels, page
from bartviz.features.pitfalls import numbers as analysis
from bartviz.features.pitfalls.parts_rerun import judged, silence, surprise, untrained
from bartviz.features.pitfalls.parts_seen import averages, by_hand, shifted, sinks, weight_and_effect
from bartviz.language import _, mark

LEAD = mark("A picture of attention shows where a head looks, not why the model says what it says.")
FIRST = mark("Attention is not an explanation")
OTHERS = (
    (mark("An average hides its heads"), averages),
    (mark("Much of the weight goes to special tokens and full stops"), sinks),
    (mark("A row is named after the next word"), shifted),
    (mark("A map of untrained weights means nothing"), untrained),
)
ON_REQUEST = (silence, judged)  # tests of the first pitfall
TESTS = mark("Is that an exception? Two tests run the model again to find out:")


def main() -> None:
    record = page.begin("pitfalls")
    show.lead(_(LEAD))
    with st.container(key="pitfalls_1"), show.or_missing():
        st.subheader(f"1 · {_(FIRST)}", anchor=False)
        weight_and_effect(record)
    if not record.from_weights:
        with st.container(key="pitfalls_surprise"), show.or_missing():
            surprise(record)
    show.what_to_do(_(TESTS))
    for column, part in zip(st.columns(len(ON_REQUEST), gap="medium"), ON_REQUEST, strict=True):
        with column, show.keeps_focus(part.__name__), show.or_missing():
            part(record)
    for number, (claim, part) in enumerate(OTHERS, 2):
        heading = f"{number} · {_(claim)}"
        with levels.aside(heading, key=f"pitfalls_{number}") as opened, show.or_missing():
            if levels.at_least("intermediate"):  # else it is on the fold
                st.subheader(heading, anchor=False)
            if opened:
                part(record)
    levels.explain("pitfalls")
    show.downloads("pitfalls", table=lambda: analysis.table(record, by_hand(record)), record=record)
