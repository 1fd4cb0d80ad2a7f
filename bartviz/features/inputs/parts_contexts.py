"""One word in two texts: how alike its states are, layer by layer, beside another use and pairs of other words."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import streamlit as st

from bartviz.analysis import word_states as analysis
from bartviz.analysis.word_states import WordStates
from bartviz.app.controls import pick, show, tasks
from bartviz.language import _

if TYPE_CHECKING:
    from bartviz.models.model import Model
    from bartviz.record.record import Record
    from bartviz.serving.gate import Ticket

READER = "bert-tiny-en"  # reads both sides of a word
WORD = "bank"
TEXTS = ("I walked along the bank of the river.", "She took her money to the bank.", "He works at the bank.")
LONGEST = 300  # characters of a text


def contexts(record: Record) -> str:
    """The word, its texts and its states; returns the sentence on what to notice."""
    names = [READER, *([record.model.name] if record.model.name != READER and not record.from_weights else [])]
    model_name = pick.one_of(_("States of"), names, key="states_of") if len(names) > 1 else READER
    with st.form("contexts", border=False):
        first, second, third = st.columns([1, 2, 2], vertical_alignment="bottom")
        word = first.text_input(_("Word"), WORD, max_chars=40, key="contexts_word")
        one = second.text_input(_("In this text"), TEXTS[0], max_chars=LONGEST, key="contexts_0")
        two = third.text_input(_("and in this one"), TEXTS[1], max_chars=LONGEST, key="contexts_1")
        left, right = st.columns([4, 1], vertical_alignment="bottom")
        hint = _("A third text, in which the word means what it means in the second. Leave it empty for none.")
        three = left.text_input(_("used as in the second"), TEXTS[2], max_chars=LONGEST, key="contexts_2", help=hint)
        right.form_submit_button(_("Compare"), width="stretch")

    def work(model: Model, ticket: Ticket[tuple[WordStates, ...]]) -> tuple[WordStates, ...]:
        from bartviz.experiments.word_states import word_states

        pairs = [(one, two), *([(two, three)] if three.strip() else [])]
        return tuple(word_states(model, word, *pair, cancelled=ticket.cancelled) for pair in pairs)

    found = tasks.ask("contexts", model_name, {"word": word, "texts": [one, two, three]}, work)
    if found is None:
        return _("A word's state depends on the words around it.")
    st.html(rows(found[0], found[1] if len(found) > 1 else None))
    show.note(
        _(
            "A cosine of 1 is the same direction. Before the first layer the two states differ by their positions "
            "alone. In some layers all states point in similar directions, so look how far the word is from other "
            "pairs, not at the number alone."
        )
    )
    show.downloads("inputs-contexts", table=found[0].table, arrays=lambda: {"cosine": found[0].same})
    return analysis.sentence(found[0])


def rows(found: WordStates, control: WordStates | None) -> str:
    """HTML: a line for the embeddings and for each layer, with bars from 0 to 1."""
    names = [("bv-word", _("{word} in the two texts", word=found.word), found.same)]
    if control is not None:
        names.append(("bv-alike", _("{word} used alike", word=found.word), control.same))
    names.append(("bv-usual", _("two different words, on average"), found.usual))
    lines = []
    for layer in range(len(found.same)):
        title = _("embeddings") if layer == 0 else _("after layer {layer}", layer=layer - 1)
        bars = "".join(
            f"<span class='bv-cosine {name}' title='{html.escape(said, quote=True)}'>"
            f"<span style='width:{100 * min(max(float(values[layer]), 0), 1):.1f}%'></span>{values[layer]:.2f}</span>"
            for name, said, values in names
        )
        lines.append(f"<div class='bv-layer'><span>{html.escape(title)}</span><div>{bars}</div></div>")
    legend = "".join(
        f"<span class='bv-cosine {name}'><span></span>{html.escape(said)}</span>" for name, said, _v in names
    )
    return f"<div class='bv-contexts'><p class='bv-legend'>{legend}</p>{''.join(lines)}</div>"
