"""Which word became which? Word links read from cross-attention, judged by hand, and the heads that align."""

import streamlit as st

from bartviz.analysis import alignment as analysis
from bartviz.app.controls import show
from bartviz.app.frame import levels, output_confidence, page, related_links
from bartviz.features.alignment import parts
from bartviz.features.alignment import parts_picture as picture
from bartviz.language import _


def main() -> None:
    record = parts.aligning(page.begin("alignment"))
    related_links.text_to_word(record, "cross")
    lead, pictures, pickers = show.place("alignment_lead"), show.place("alignment_pictures"), st.container()
    with pickers:
        chosen = parts.choose(record)
    with lead:
        show.lead(parts.notice(chosen))
        output_confidence.warning(record)
    with pictures:
        drawn = picture.picture(record, chosen)
        parts.numbers(record, chosen)
    if len(chosen.heads) == 1:
        related_links.to_other_views(record, "alignment", chosen.heads[0])
    with levels.aside(_("More: the links as a line, and every head ranked"), key="alignment") as opened:
        if opened:
            parts.line(chosen)
            parts.ranking(chosen)
    table = analysis.link_table(chosen.shown, chosen.links, chosen.gold)
    show.table(table, title=_("Every link with its weight as a table"))
    levels.explain("alignment")
    show.downloads(
        "alignment",
        table=table,
        arrays=lambda: parts.arrays(chosen),
        figure=drawn,
        picture=parts.paper(record, chosen),
        record=record,
    )
