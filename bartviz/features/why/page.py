"""Why this word? From one word of the output back to the words of the text, by several methods."""

from __future__ import annotations

from functools import partial

import streamlit as st

from bartviz.analysis.attribution import Attribution
from bartviz.app.controls import show
from bartviz.app.frame import levels, output_confidence, page, related_links
from bartviz.features.why import numbers, parts
from bartviz.features.why import parts_words as lines
from bartviz.features.why.numbers import Refused
from bartviz.language import _
from bartviz.record.record import Record


def main() -> None:
    record = page.begin("why")
    record.expect_model()
    st.html(parts.STYLE)
    places = numbers.places(record)
    at = parts.place(record, places)
    related_links.text_to_word(record, "word" if record.steps else "text")
    with show.place("lead"):
        lead = st.empty()
    drawn = show.place("why_words")
    name, instead = next(iter(parts.NAMES)), None
    if levels.at_least("intermediate"):
        left, right = st.columns(2)
        with left:
            name = parts.method()
        with right:
            instead = parts.contrast(record, at, name)
    result = parts.found(record, at, name, instead)
    shown = numbers.shown(record, result) if isinstance(result, Attribution) else None
    with drawn:
        guess = result.steps.labels[0] if isinstance(result, Attribution) and record.output is None else ""
        lines.draw(record, places, at, shown, guess)
        show.note(parts.written_before(places, shown) if shown is not None else "")
    output_confidence.warning(record)
    with lead:
        if isinstance(result, Attribution) and shown is not None:
            show.lead(parts.said(name, places[at], result, shown))
        else:
            show.lead(_("Touch a word below: what in the text speaks for it?"))
    if isinstance(result, Refused):
        st.error(show.plain(str(result.error)))
    if result is None:
        levels.explain("why")
        return
    with levels.aside(_("More: all methods side by side, and the heads that looked there"), key="why") as opened:
        if opened:
            side_by_side(record, at, name, result if instead is None else None)
            if shown is not None and isinstance(result, Attribution):
                parts.carried(record, places[at], result, shown)
    levels.explain("why")
    if isinstance(result, Attribution):
        show.downloads("why", table=partial(result.to_dataframe), record=record)


def side_by_side(record: Record, at: int, name: str, known: parts.Found | None) -> None:
    """Every method as a line of shaded words, those that are there soonest first; ``known``: that of ``name``."""
    st.subheader(_("The same word by every method"), anchor=False)
    drawn, results = st.empty(), dict[str, parts.Found]()
    if known is not None:
        results[name] = known
    for each in parts.in_order():
        drawn.html(parts.strips(record, results, {}, name))
        if each not in results:
            found = parts.found(record, at, each)
            if found is None:
                return
            results[each] = found
    drawn.html(parts.strips(record, results, {}, name))
