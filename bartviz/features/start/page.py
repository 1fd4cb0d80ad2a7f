"""What does a language model look at? The saved record at once, or the visitor's own run."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from bartviz.analysis import sentence_words, start
from bartviz.app.controls import show
from bartviz.app.frame import fill_masks, levels, output_confidence, page, related_links, sidebar
from bartviz.app.state.result_cache import cached
from bartviz.features.start import parts_ribbons as ribbons
from bartviz.language import _, mark
from bartviz.record.attention import Head
from bartviz.record.record import Record
from bartviz.serving.limits import TYPED

if TYPE_CHECKING:
    import plotly.graph_objects as go


def picture(record: Record, chosen: start.Ribbons) -> None:
    cross, beginner = chosen.head.kind == "cross", not levels.at_least("intermediate")
    with show.place("start_lead" if beginner else "lead"):
        if beginner:
            show.note(start.legend(chosen))
        show.lead(start.notice(chosen))
    output_confidence.warning(record)
    fill_masks.section(record)
    below_name = _("given output") if chosen.given else _("output")
    above, below = (_("source text"), below_name) if cross else (_("text, looked at"), _("text, looking"))
    ribbons.show(chosen.first(), key="ribbons", above=above, below=below)
    layers, heads = record.attention(chosen.head.kind).shape[:2]
    reason = mark("{head}: of {count} heads, the one whose words choose each other most ({score:.2f}).")
    if cross:
        reason = mark(
            "{head}: of the {count} heads, among those that look for the next word, the one whose words "
            "choose each other most ({score:.2f})."
        )
    if beginner:
        reason = mark("{head}, one of {count} heads, chosen because its picture is the clearest.")
    head = sentence_words.head(chosen.head.kind, chosen.head.layer, chosen.head.head)
    message = _(reason, head=sentence_words.capitalized(head), count=layers * heads, score=chosen.score)
    longest = max(len(chosen.above), len(chosen.below))
    if longest > start.MOST_WORDS:
        message += " " + _("The first {count} of {longest:,} words are drawn.", count=start.MOST_WORDS, longest=longest)
    show.note(message)


def drawn(chosen: start.Ribbons) -> go.Figure:
    """The ribbons as a figure to download; imported late, so as not to delay the first picture."""
    from bartviz.features.start.figure import ribbons as figure

    return figure(chosen, dark=page.dark())


def cards(record: Record | None, head: Head | None = None) -> None:
    """What to do next: learn, look at this sentence (on Heads, at the head that is drawn here), or type another one."""
    learn, look, own = st.container(key="cards").columns(3, gap="medium")
    with learn.container(border=True, height="stretch", gap="xsmall"):
        page.link("lessons", _("**Learn it in ten minutes**"))
        show.note(_("Short tours: look, guess, and see. No experience needed."))
    with look.container(border=True, height="stretch", gap="xsmall"):
        links = related_links.for_head(record, head) if record is not None and head is not None else []
        query = next((link.query for link in links if link.to == "heads"), None)
        page.link("heads", _("**Look inside this sentence**"), query)
        show.note(_("Every layer and every head of this text, one of them large."))
        if record is not None and record.steps:
            page.link("decoding", _("How was each word chosen?"))
    with own.container(border=True, height="stretch"), st.form("own", border=False, clear_on_submit=True):
        text, button = st.columns([3, 1], vertical_alignment="bottom", gap="small")
        text.text_input(
            _("Use your own text"), key="own_text", max_chars=TYPED, placeholder=_("type here, then press Enter")
        )
        button.form_submit_button(_("Run"), width="stretch", on_click=sidebar.start_with_own, args=("own_text",))


def main() -> None:
    record = page.begin("start", needs_record=False)
    if record is None:
        cards(None)
        return
    chosen = cached(partial(start.ribbons, record))
    picture(record, chosen)
    cards(record, chosen.head)
    related_links.to_other_views(record, "start", chosen.head)
    levels.explain("start")
    show.downloads(
        "start",
        table=partial(start.table, chosen),
        arrays={"weights": chosen.weights},
        figure=partial(drawn, chosen),
        record=record,
    )
