"""Which heads do the same, which differ? All heads by any two measures, and two of them side by side."""

from functools import partial

import streamlit as st

from bartviz.analysis import compare as analysis
from bartviz.app.controls import pick, show
from bartviz.app.frame import levels, page, related_links
from bartviz.app.state.result_cache import cached
from bartviz.features.compare import parts
from bartviz.features.compare import parts_flow as flow
from bartviz.features.compare import parts_likeness as likeness
from bartviz.features.compare import parts_table as table
from bartviz.features.compare import parts_two_heads as contrast
from bartviz.features.compare.figure import together
from bartviz.language import _, mark

TABS = {
    "two": (mark("Two heads"), contrast.two),
    "all": (mark("All heads"), table.all_heads),
    "likeness": (mark("Similarity"), likeness.heads),
    "rollout": (mark("Rollout"), flow.rolled_out),
    "contribution": (mark("Attention and contribution"), flow.weighed),
    "measures": (mark("What is measured"), table.meanings),
}


def main() -> None:
    record = page.begin("compare")
    strip = show.place("strip")
    lead, two_heads, pickers = show.place("compare_lead"), st.container(), show.place("compare_pickers")
    all_heads = show.place("compare_all")
    with pickers:
        chosen = parts.choose(record, two_heads)
    if not chosen.a.other:
        related_links.to_other_views(record, "compare", chosen.a.head)
    with strip:
        related_links.text_to_word(record, chosen.kind)
    with lead:
        show.lead(cached(partial(analysis.notice, chosen.measured, threshold=chosen.threshold)))
    part, tab = pick.tabs({word: _(label) for word, (label, _draw) in TABS.items()}, key="below")
    with tab:
        TABS[part][1](chosen)
    with all_heads:
        parts.hero(chosen, table.kept(chosen))
    levels.explain("compare")
    show.downloads(
        "compare",
        table=lambda: analysis.with_units(table.table(chosen)),
        arrays=lambda: analysis.arrays(chosen.measured),
        figure=lambda: together(
            chosen.measured, chosen.x, chosen.y, chosen.shade, pins=chosen.places, dark=page.dark()
        ),
        record=record,
        of=chosen.kind,
    )
