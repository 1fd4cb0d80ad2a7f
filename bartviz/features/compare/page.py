"""Which heads do the same, which differ? All heads by any two measures, and two of them side by side."""

from functools import partial

import streamlit as st

from bartviz.analysis import compare as analysis
from bartviz.app.controls import pick, show
from bartviz.app.frame import levels, page, related_links
from bartviz.app.frame.levels import Level
from bartviz.app.state import url_state
from bartviz.app.state.result_cache import cached
from bartviz.features.compare import parts
from bartviz.features.compare import parts_flow as flow
from bartviz.features.compare import parts_likeness as likeness
from bartviz.features.compare import parts_table as table
from bartviz.features.compare import parts_two_heads as contrast
from bartviz.features.compare.figure import together
from bartviz.features.compare.parts import Chosen
from bartviz.language import _, mark

TABS = {
    "all": (mark("All heads"), table.all_heads),
    "contribution": (mark("Attention and contribution"), flow.weighed),
    "likeness": (mark("Similarity"), likeness.heads),
    "rollout": (mark("Rollout"), flow.rolled_out),
    "measures": (mark("What is measured"), table.meanings),
}
SHOWN: dict[Level, int] = {"beginner": 1, "intermediate": 2, "expert": len(TABS)}  # of the tabs
_ALL_TABS = "_compare_all_tabs"


def more(chosen: Chosen) -> None:
    """The tabs of this level, or all if a link asked for one (URL ``below``); a single one is folded."""
    if url_state.opened("below"):
        st.session_state[_ALL_TABS] = True
    shown = len(TABS) if st.session_state.get(_ALL_TABS) else SHOWN[levels.current()]
    names = {word: _(label) for word, (label, _draw) in list(TABS.items())[:shown]}
    if shown == 1:
        with levels.aside(_("All heads as a table"), key="compare_table") as opened:
            if opened:
                table.all_heads(chosen)
        return
    part, tab = pick.tabs(names, key="below")
    with tab:
        TABS[part][1](chosen)


def main() -> None:
    record = page.begin("compare")
    st.html(contrast.STYLE)
    strip = show.place("strip")
    lead, pins, maps = (show.place(f"compare_{name}") for name in ("lead", "pins", "maps"))
    with levels.aside(_("All heads"), key="compare_heads", names=("x", "y", "colour")) as opened:
        said, pickers, all_heads = (show.place(f"compare_{name}") for name in ("said", "pickers", "all"))
    with pickers:
        chosen, settings = parts.choose(record, pins)
    with strip:
        related_links.text_to_word(record, chosen.a.head.kind)
    with lead:
        show.lead(contrast.verdict(chosen))
        if to_do := contrast.to_do(chosen):
            show.what_to_do(to_do)
    with maps:
        contrast.two(chosen, settings)
    if opened:
        with said:
            if levels.at_least("intermediate"):  # else it is on the fold
                st.subheader(_("All heads"), anchor=False)
            percents = not levels.at_least("intermediate")
            show.lead(cached(partial(analysis.notice, chosen.measured, threshold=chosen.threshold, percents=percents)))
    more(chosen)
    if opened:
        with all_heads:
            parts.hero(chosen, table.kept(chosen))
    if not chosen.a.other:
        related_links.to_other_views(record, "compare", chosen.a.head)
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
