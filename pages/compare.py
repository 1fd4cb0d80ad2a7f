"""Which heads do the same, which differ? All heads by any two measures, and two of them side by side."""

import streamlit as st

from bartviz.analysis import compare as analysis
from bartviz.figures.compare import compare as figure
from bartviz.ui import compare, contrast, flow, likeness, measured, page, show

EXPLAIN = """
**A point is a head.** Where it lies is what it does with *this* text, by two numbers that you choose; the matrix shows
a third one for every layer and head. *What is measured* has each formula, unit, range and source.

**Names** are given only with their score and the threshold that it passed; a head that passes none is unclassified.
They hold for this text: a head that looks at the previous token here may do something else elsewhere.

**A and B** may be any two heads: of other layers, other kinds, another text or another model (*Other run*). A
difference needs the same tokens on both sides. Orange is where A looks more, blue where B does.

**Jensen-Shannon distance** compares two rows of weights: 0 if they are equal, 1 if they have no key in common. It is
the square root of the Jensen-Shannon divergence in bits, averaged over the rows that have a choice and
are no special tokens.

**Weight is not contribution.** A head may put its weight on a token whose value is nearly nothing; the tab *Attention
and contribution* shows both. Neither says why the model chose a word.
"""
TABS = ("Two heads", "All heads", "Likeness", "Rollout", "Attention and contribution", "What is measured")


def main() -> None:
    record = page.begin("compare")
    lead, pickers, all_heads, two_heads = (st.container() for _ in range(4))
    with pickers:
        chosen = compare.choose(record, two_heads)
    with lead:
        show.lead(analysis.notice(chosen.measured, threshold=chosen.threshold))
    parts = (contrast.two, measured.all_heads, likeness.heads, flow.rolled_out, flow.weighed, measured.meanings)
    for tab, draw in zip(st.tabs(TABS, key="below", on_change="rerun", bind="query-params"), parts, strict=True):
        if tab.open:
            with tab:
                draw(chosen)
    with all_heads:
        compare.hero(chosen, measured.kept(chosen))
    show.explain(EXPLAIN)
    a = chosen.places.get("A")
    show.downloads(
        "compare",
        table=lambda: measured.table(chosen),
        arrays=lambda: analysis.arrays(chosen.measured),
        figure=lambda: figure(
            chosen.attention, x=chosen.x.name, y=chosen.y.name, color=chosen.shade.name, a=a,
            query=record.rows(chosen.kind, "predicts" if chosen.kind == "cross" else "reads"), dark=page.dark(),
        ),
        record=record,
    )  # fmt: skip


main()
