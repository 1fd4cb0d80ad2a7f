"""A warning line for an output of which the model was unsure."""

from __future__ import annotations

import html

import streamlit as st

from bartviz.analysis.output_confidence import notice
from bartviz.app.frame import levels
from bartviz.record.record import Record


def warning(record: Record) -> None:
    """Draw the warning; nothing if the model was sure or did not write the text itself."""
    sentence = notice(record, numbers=levels.at_least("intermediate"))
    if sentence:
        st.html(f"<p class='bv-unsure' role='note'>{html.escape(sentence)}</p>")
