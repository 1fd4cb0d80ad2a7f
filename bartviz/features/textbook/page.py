"""Which sentences of the textbooks hold? Every statement of the source articles, next to computed numbers."""

import streamlit as st

from bartviz.app.controls import show
from bartviz.app.frame import levels, page
from bartviz.features.textbook import ledger, parts
from bartviz.language import _
from bartviz.record.record import Record


def draw(record: Record | None) -> None:
    st.html(parts.STYLE)
    lead = st.container(key="textbook_lead")
    verdicts = parts.judged(record)
    with lead:
        parts.lead(verdicts)
    chosen = parts.choose(verdicts)
    parts.lines(chosen, verdicts)
    parts.tally(verdicts)
    parts.sources()
    show.downloads("ledger", title=_("One line for each statement"), table=lambda: ledger(record, more=verdicts))
    show.downloads(
        "ledger-numbers", title=_("One line for each number"), table=lambda: ledger(record, more=verdicts, numbers=True)
    )
    levels.explain("textbook")


def main() -> None:
    draw(page.begin("textbook", needs_record=False))
