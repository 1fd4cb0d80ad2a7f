"""Under a page's title, for a text whose words were drawn at random: that they were, and the way back."""

from __future__ import annotations

import streamlit as st

from bartviz.app.controls import show
from bartviz.app.frame import levels, sidebar, status
from bartviz.language import _
from bartviz.record.record import Record
from bartviz.record.vocabulary import SAMPLING


def draw(record: Record) -> None:
    """The line, and a button for the most likely words where the chosen model wrote the text; else nothing."""
    if record.provenance.mode != SAMPLING:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="sampled"):
        show.note(_said(record))
        if status.names(st.session_state["model"], record.model):
            st.button(_("Back to the most likely words"), key="most_likely", on_click=sidebar.most_likely)


def _said(record: Record) -> str:
    seed = record.provenance.settings.get("seed")
    if not levels.at_least("intermediate") or not isinstance(seed, int):
        return _("The words of this text were drawn at random.")
    return _("Sampled at random with the seed {seed}: the same seed gives the same text.", seed=seed)
