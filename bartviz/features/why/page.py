"""Why this word? From one word of the output back to the words of the text, by several methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from bartviz.analysis.attribution import Attribution
from bartviz.analysis.attribution_methods import METHODS
from bartviz.app.controls import show
from bartviz.app.frame import levels, output_confidence, page, related_links
from bartviz.features.why import numbers, parts
from bartviz.features.why import parts_judged as judged
from bartviz.features.why import parts_words as lines
from bartviz.features.why.numbers import Place, Refused
from bartviz.features.why.parts import Choice
from bartviz.language import _
from bartviz.record.record import Record

if TYPE_CHECKING:
    from bartviz.app.streamlit_internals import DeltaGenerator


def main() -> None:
    record = page.begin("why")
    record.expect_model()
    st.html(parts.STYLE)
    places = numbers.places(record)
    at = parts.place(record, places)
    related_links.text_to_word(record, "word" if record.steps else "text")
    with show.place("why_lead"):
        lead = st.empty()
    drawn = show.place("why_words")
    chosen = parts.choose(record, at)
    chosen, result = parts.first(record, at, chosen, drawn)
    answer = result if isinstance(result, Attribution) else None
    said = "" if answer is None else sentence(record, places, at, chosen, answer)
    with drawn:
        lines.draw(record, places, at, answer, said)
    output_confidence.warning(record)
    if answer is not None:
        explained(record, places, at, chosen, answer, said, lead)
        show.downloads("why", table=answer.to_dataframe, record=record)
    else:
        with lead:
            show.lead(_("Touch a word below: what in the text speaks for it?"))
        if isinstance(result, Refused):
            st.error(show.plain(str(result.error)))
    levels.explain("why", how=parts.how(chosen.method))


def sentence(record: Record, places: Sequence[Place], at: int, chosen: Choice, result: Attribution) -> str:
    """What the numbers of a word say: the lead of the page."""
    shown = numbers.shown(record, result)
    before = None if shown.before is None or places[shown.before].special else places[shown.before]
    return parts.said(chosen.method, places[at], result, shown, before)


def explained(
    record: Record,
    places: Sequence[Place],
    at: int,
    chosen: Choice,
    result: Attribution,
    said: str,
    lead: DeltaGenerator,
) -> None:
    """What the numbers of a word say (``said``), whether the method is worth anything on this text, and what others
    say."""
    shown = numbers.shown(record, result)
    with lead:
        show.lead(said)
    with show.keeps_focus("why_removal"):
        judged.remove(record, places[at], at, shown, chosen.operator)
    progress, results, strips = st.container(), dict[str, parts.Found](), None
    label = _("More: all methods side by side, and the heads that looked there")
    with st.container(key="why_every"), levels.aside(label, key="why") as opened:
        if opened:
            strips = parts.side_by_side(record, at, chosen, result, results)
            parts.carried(record, places[at], result, shown)
    if opened and len(results) < len(METHODS):  # the others are computed first
        return
    with progress:
        found = judged.judged(record, list(METHODS) if opened else [chosen.method], chosen.operator)
        if isinstance(found, Refused):
            show.note(str(found.error))
    if found is None or isinstance(found, Refused):
        return
    with lead:
        show.lead(judged.with_verdict(said, found[chosen.method].verdict))
    if strips is not None:
        worth = {one.method: _(one.verdict) for one in found.judgements}
        strips.html(parts.strips(record, results, worth, chosen.method))
