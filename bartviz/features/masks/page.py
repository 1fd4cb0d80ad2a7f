"""Who may see whom? The model's own masks for this text, a padded batch, other patterns, about 0 or exactly 0."""

from functools import partial

import streamlit as st

from bartviz.analysis import masks as analysis
from bartviz.app.controls import pick, show
from bartviz.app.frame import levels, page, related_links
from bartviz.features.masks import parts, parts_draw
from bartviz.features.masks import parts_downloads as downloads
from bartviz.features.masks.figure import masks as figure
from bartviz.features.masks.parts_recurrence import recurrence
from bartviz.language import _, mark

TABS = {
    "padding": (mark("A batch of unequal lengths"), parts.padding),
    "patterns": (mark("Other patterns"), parts.patterns),
    "zero": (mark("About 0 or exactly 0"), parts.zero),
    "recurrence": (mark("Before attention"), recurrence),
}


def main() -> None:
    record = page.begin("masks")
    related_links.text_to_word(record, *record.kinds)
    lead = st.container(key="masks_lead")
    shown = parts.choose(record)
    if shown is None:
        with show.or_missing():
            parts_draw.draw(record, lead)
        levels.explain("masks")
        return
    said = analysis.notice if levels.at_least("intermediate") else analysis.plainly
    with lead:
        show.lead(said(record))
    parts.squares(record, shown)
    page.link("denoising", _("Hide a word and let a model guess it"), icon=":material/arrow_forward:")
    with levels.aside(_("More: the formula, padding, other patterns"), key="masks", names=["about"]) as opened:
        if opened:
            if not record.from_weights:
                parts.formula(record.attention(record.kinds[0]), shown.number)
            part, tab = pick.tabs({word: _(label) for word, (label, _draw) in TABS.items()}, key="about")
            with tab, show.or_missing():
                TABS[part][1](record)
    show.table(partial(analysis.table, record, shown.reading), title=_("Every row of every mask as a table"))
    levels.explain("masks")
    show.downloads(
        "masks",
        table=lambda: analysis.table(record, shown.reading),
        arrays=lambda: downloads.arrays(record, shown.view, shown.layer, shown.head),
        figure=lambda: figure(
            record,
            view=shown.view,
            number=shown.number,
            layer=shown.layer,
            head=shown.head,
            reading=shown.reading,
            dark=page.dark(),
        ),
    )
