"""What does a language model look at? The saved record at once, or the visitor's own run."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from bartviz.analysis import sentence_words, start
from bartviz.app.controls import show
from bartviz.app.frame import fill_masks, levels, output_confidence, page, page_hooks, page_list, related_links, sidebar
from bartviz.app.state.result_cache import cached
from bartviz.browser.ribbons.messages import lines
from bartviz.features.start import parts_alive as alive
from bartviz.features.start import parts_ribbons as ribbons
from bartviz.language import _, mark, plural
from bartviz.record.attention import Head
from bartviz.record.record import Record
from bartviz.serving.limits import TYPED

if TYPE_CHECKING:
    import plotly.graph_objects as go


FIRST_LESSON = "attention"
TRANSLATORS = {"bart-tiny-en-de": mark("An English sentence becomes German.")}


def first_minute(record: Record, chosen: start.Ribbons) -> None:
    """The picture for a newcomer: no special tokens, no numbers, and a word to touch."""
    whole, touch = start.simple(chosen), start.to_touch(chosen)
    shown = whole.first()
    with show.place("start_lead"):
        if touch is not None and record.model.name in TRANSLATORS:  # words of one line mean those of the other
            show.lead(_(TRANSLATORS[record.model.name]))
            show.note(start.legend(chosen))
        else:
            show.lead(start.legend(chosen))
    output_confidence.warning(record)
    fill_masks.section(record)
    word = next((t for t, one in enumerate(shown.below) if touch is not None and one == chosen.below[touch]), None)
    taps = [
        _("Touch a word of the lower line.")
        if word is None
        else _("Touch “{word}”: where did this head look?", word=shown.below[word].text),
        _("Touch another one."),
        _("Now the first lesson: it is below.")
        if record.seal != "unchanged"  # it is the visitor's own run
        else _("Now a sentence of your own: type it below."),
    ]
    if page_hooks.current().leads():
        taps = []  # it asks its own question, and hides what is below
    names = lines(chosen.head.kind, given=chosen.given)
    ribbons.show(
        record,
        shown,
        key="ribbons",
        above=names[0],
        below=names[1],
        glosses=start.glosses(whole),
        taps=taps,
        asked=word,
    )
    if note := f"{_undrawn(whole)} {_cut(shown)}".strip():
        show.note(note)


def picture(record: Record, chosen: start.Ribbons) -> None:
    cross = chosen.head.kind == "cross"
    with show.place("lead"):
        show.lead(start.notice(chosen))
    output_confidence.warning(record)
    fill_masks.section(record)
    above, below = lines(chosen.head.kind, given=chosen.given)
    ribbons.show(record, chosen.first(), key="ribbons", above=above, below=below, asked=start.to_touch(chosen))
    layers, heads = record.attention(chosen.head.kind).shape[:2]
    reason = mark(
        "{head}: of {count} heads, the one whose words choose each other most, not counting neighbours ({score:.2f})."
    )
    if cross:
        reason = mark(
            "{head}: of the {count} heads, among those that look for the next word, the one whose words "
            "choose each other most ({score:.2f})."
        )
    if start.mask_of(chosen) is not None:
        reason = mark("{head}: of {count} heads, the one whose mask looks most at one word ({score:.2f}).")
    head = sentence_words.head(chosen.head.kind, chosen.head.layer, chosen.head.head)
    message = _(reason, head=sentence_words.capitalized(head), count=layers * heads, score=chosen.score)
    show.note(f"{message} {_undrawn(chosen)}".strip())


def _undrawn(chosen: start.Ribbons) -> str:
    """How many words of a long text are drawn."""
    longest = max(len(chosen.above), len(chosen.below))
    if longest <= start.MOST_WORDS:
        return ""
    return _("The first {count} of {longest:,} words are drawn.", count=start.MOST_WORDS, longest=longest)


def _cut(shown: start.Ribbons) -> str:
    """Why a word has gaps, with the first that has."""
    word = next((word for word in (*shown.above, *shown.below) if len(word.pieces) > 1 and not word.special), None)
    if word is None:
        return ""
    pieces = " + ".join(f"“{piece}”" for piece in word.pieces)
    return _("The model reads some words in pieces: “{word}” as {pieces}.", word=word.text, pieces=pieces)


def drawn(chosen: start.Ribbons) -> go.Figure:
    """The ribbons as a figure to download; imported late, so as not to delay the first picture."""
    from bartviz.features.start.figure import ribbons as figure

    return figure(chosen, dark=page.dark())


def cards(record: Record | None, head: Head | None = None) -> None:
    """Suggestions for the next step: learn, look at this sentence (on Heads, at the head that is drawn here), or type
    another one.
    """
    learn, look, own = st.container(key="cards").columns(3, gap="medium")
    with learn.container(border=True, height="stretch", gap="xsmall"):
        if page_list.has("lessons"):
            # not a link: it would be one to this page itself, of which Streamlit makes nothing
            lessons = page_hooks.current()
            st.button(
                _("**The first lesson**"),
                key="first_lesson",
                type="primary",
                on_click=lessons.begin,
                args=(FIRST_LESSON,),
            )
            show.note(
                plural(
                    "Look, guess, and see: about {count} minute, and no experience needed.",
                    "Look, guess, and see: about {count} minutes, and no experience needed.",
                    lessons.minutes(FIRST_LESSON),
                )
            )
            page.link("lessons", _("All lessons"))
        if page_list.has("born"):
            page.link("born", _("Watch a network learn to look"))
    with look.container(border=True, height="stretch", gap="xsmall"):
        links = related_links.for_head(record, head) if record is not None and head is not None else []
        query = next((link.query for link in links if link.to == "heads"), None)
        with st.container(key="look_inside"):  # looks like a button (first.css)
            page.link("heads", _("**Look inside this sentence**"), query)
        show.note(_("The model has many attention heads, and each looks in its own way. See where."))
        if record is not None and record.steps:
            page.link("decoding", _("How was each word chosen?"))
    with own.container(border=True, height="stretch", gap="small"):
        if st.session_state.get("own_text", "") not in ("", st.session_state["text"]):
            st.session_state["own_text"] = ""  # another text was chosen since
        with st.form("own", border=False):
            text, button = st.columns([3, 1], vertical_alignment="bottom", gap="small")
            text.text_input(_("Use your own text"), key="own_text", max_chars=TYPED, placeholder=_("type here"))
            button.form_submit_button(_("Run"), width="stretch", on_click=sidebar.start_with_own, args=("own_text",))


def main() -> None:
    record = page.begin("start", needs_record=False)
    if record is None:
        cards(None)
        return
    chosen = cached(partial(start.ribbons, record))
    if levels.at_least("intermediate"):
        picture(record, chosen)
    else:
        first_minute(record, chosen)
    cards(record, chosen.head)
    if levels.at_least("intermediate"):
        related_links.to_other_views(record, "start", chosen.head)
    word = "reads" if record.model.kind == "encoder" else "start"
    levels.explain(word, with_terms=levels.at_least("intermediate"))
    show.downloads(
        "start",
        table=partial(start.table, chosen),
        arrays={"weights": chosen.weights},
        figure=partial(drawn, chosen),
        record=record,
    )
    alive.offer(record)
