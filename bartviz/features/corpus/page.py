"""What does each head do over a corpus of texts? Every head: interval, distribution, examples, passport."""

from functools import partial

import streamlit as st

from bartviz.app.controls import show
from bartviz.app.frame import levels, page
from bartviz.corpus import one_file
from bartviz.drawing import paper
from bartviz.features.corpus import parts, parts_compare
from bartviz.features.corpus import parts_finding as finding
from bartviz.features.corpus import parts_looks as looks
from bartviz.features.corpus import parts_own as own
from bartviz.features.corpus import parts_patterns as patterns
from bartviz.language import _


def main() -> None:
    page.begin("corpus", needs_record=False)
    st.html(parts.STYLE)  # hides what stands on the page for keys alone
    with st.container(key="corpus_lead"):  # a longer sentence than that of other pages
        lead = show.place("lead")
    chosen = parts.choose()
    with lead:
        show.lead(*parts.over_all(chosen))
    parts.picture(chosen)
    own.section()
    with levels.aside(_("More: from text to text, how far it looks, at which tokens"), key="corpus_more") as opened:
        if opened:
            parts.values(chosen)
            looks.section(chosen)
    finding.section(chosen)
    patterns.section(chosen)
    parts.known(chosen)
    parts_compare.compare(chosen)
    levels.explain("corpus")
    show.downloads(
        "corpus",
        table=partial(parts.passport, chosen),
        passport=lambda: chosen.of.passport(chosen.head, measure=chosen.measure),
        picture=lambda: paper.atlas(chosen.of, chosen.measure, chosen.head.kind),
        figure=lambda: parts.all_heads(chosen, dark=page.dark()),
        atlas=lambda: one_file.pack(chosen.of),
        of=str(chosen.head).replace(" ", "-"),
    )
