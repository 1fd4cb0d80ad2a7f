"""What does the model get to see? From text to ids, and to the sum that the first layer reads."""

from functools import partial
from pathlib import Path

import streamlit as st

from bartviz.analysis import inputs as analysis
from bartviz.analysis.positions import shift, shift_table, similarity
from bartviz.app.controls import show
from bartviz.app.frame import levels, page, related_links
from bartviz.features.inputs import EXPLAINED, parts, parts_contexts
from bartviz.features.inputs.figure import inputs as figure
from bartviz.features.inputs.figure import positions
from bartviz.language import _
from bartviz.record.record import Record

STYLE = Path(parts.__file__).with_name("style.css")


def summed(record: Record, stack: analysis.Stack, look: str) -> str:
    """The embeddings or the positions; returns the sentence on what to notice."""
    embedded = parts.summed(record, stack)
    if embedded is None:
        return _("The embeddings are read from the model.")
    if look == "sum":
        parts.parts(embedded)
        show.downloads(
            "inputs",
            table=lambda: analysis.table(embedded),
            arrays=lambda: analysis.arrays(embedded),
            figure=lambda: figure(embedded, dark=page.dark()),
            record=record,
        )
        return analysis.sentence(embedded)
    table = parts.positions(record, embedded)
    if table is None:
        return analysis.sentence(embedded)
    show.downloads(
        "inputs-positions",
        table=(lambda: shift_table(shift(table))) if len(table) >= 8 else None,
        arrays=lambda: {"positions": table, "similarity": similarity(table)},
        figure=lambda: positions(table, dark=page.dark()),
    )
    return parts.near(table)


def main() -> None:
    record = page.begin("inputs")
    st.html(STYLE)
    strip, lead = show.place("strip"), show.place("lead")
    look, stack = parts.choose(record)
    with strip:
        related_links.text_to_word(record, "pieces" if look in ("pieces", "tokenizers") else "embeddings")
    rarer = None
    with st.container(key="inputs_hero"):
        if look == "pieces":
            parts.pieces(record, stack)
            tokens = parts.tokens_of(record, stack)
            sentence = analysis.pieces_sentence(tokens)
            if parts.wants_rarer(record, tokens):
                rarer = show.place("inputs_rarer")
            table = partial(analysis.pieces, tokens, parts.roles_of(record, stack))
            show.downloads("inputs", table=table, arrays=lambda: {"ids": tokens.ids})
        elif look == "tokenizers":
            splits = parts.tokenizers(record)
            sentence = parts.split_sentence(splits)
            if splits:
                show.downloads("inputs-tokenizers", table=lambda: analysis.splits(splits))
        elif look == "contexts":
            sentence = parts_contexts.contexts(record)
        else:
            sentence = ""
            with show.or_missing():
                sentence = summed(record, stack, look)
    if sentence:
        with lead:
            show.lead(sentence)
    levels.explain(EXPLAINED[look])
    if rarer is not None:  # last: it may wait for the model
        with rarer:
            parts.rarer(record.model.name)
