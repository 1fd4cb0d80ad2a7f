"""Which sentences of the textbooks hold? Every statement of the source articles, next to numbers computed now."""

import streamlit as st

from bartviz.language import _
from bartviz.record.record import Record
from bartviz.teaching.textbook import ledger
from bartviz.ui.controls import show
from bartviz.ui.frame import levels, page
from bartviz.ui.views.textbook import parts


def main(record: Record | None) -> None:
    lead = st.container(key="textbook_lead")
    verdicts = parts.judged(record)
    with lead:
        parts.tally(verdicts)
    parts.lines(parts.choose(verdicts), verdicts)
    show.downloads("ledger", table=lambda: ledger(record, more=verdicts))
    show.note(_("One line for each number:"))
    show.downloads("ledger-numbers", table=lambda: ledger(record, more=verdicts, numbers=True))
    levels.explain("textbook")


main(page.begin("textbook", needs_record=False))
