"""The line beside an output of which the model was unsure."""

from __future__ import annotations

import html

import streamlit as st

from bartviz.analysis.doubt import notice
from bartviz.record.record import Record
from bartviz.ui.frame import levels


def line(record: Record) -> None:
    """Say so where it was; nothing where it was sure, or where the text is not its own."""
    said = notice(record, numbers=levels.at_least("intermediate"))
    if said:
        st.html(f"<p class='bv-doubt' role='note'>{html.escape(said)}</p>")
