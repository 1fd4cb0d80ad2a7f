"""Fills the mask tokens of the visitor's text with a masked language model, and reports a mask read as plain text."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from bartviz.app.controls import show, tasks
from bartviz.app.frame import sidebar
from bartviz.app.state import content
from bartviz.language import _, later
from bartviz.language.percentages import percent
from bartviz.text.labels import MASKS, visible

if TYPE_CHECKING:
    from bartviz.experiments.repair import Guess
    from bartviz.models.model import Model
    from bartviz.record.record import Record
    from bartviz.serving.gate import Ticket

BERT_MASK, FILLER = MASKS[0], "bert-tiny-en"  # filled by a model that ships


def section(record: Record) -> None:
    """Predictions for each mask of an encoder's text, or how to have a typed mask read as one; else nothing."""
    if record.from_weights or (record.prediction is not None and record.model.known.task(record.model.architecture)):
        return  # a network that was fine-tuned to label texts fills no masks
    typed = next((name for name in MASKS if name in f"{record.source_text} {record.pair_text or ''}"), None)
    pieces, encoder = record.source.pieces, record.model.kind == "encoder"
    if any(pieces[i] in MASKS for i in np.flatnonzero(record.source.special)):
        if encoder:
            _filled(record)
    elif typed is not None:
        may = encoder or (record.model.kind == "encoder-decoder" and typed != BERT_MASK)  # know it
        if not encoder and typed == BERT_MASK and FILLER in sidebar.models():
            offer = _("Let {name} fill the mask", name=FILLER), ("model", FILLER)
        elif may and st.session_state.get("special") != "true":
            offer = _("Read it as a mask"), ("special", "true")
        else:
            show.note(_("This model has no mask token “{typed}”: BERT's is [MASK], RoBERTa's <mask>.", typed=typed))
            return
        label, change = offer
        note, button = st.columns([3, 1], vertical_alignment="center")
        with note:
            show.note(_("“{typed}” was read as plain text, not as a mask.", typed=typed))
        button.button(label, on_click=sidebar.again, args=change, width="stretch")


def _filled(record: Record) -> None:
    def work(model: Model, ticket: Ticket[tuple[Guess, ...]]) -> tuple[Guess, ...]:
        from bartviz.experiments.repair import filled

        ticket.report(later("Filling the masks"))
        return filled(model, record, cancelled=ticket.cancelled)

    key = {"record": content.key(record)}
    found = tasks.ask("gaps", record.model.name, key, work)
    if found is not None:
        st.html("".join(_line(number, one, len(found)) for number, one in enumerate(found, 1)))


def _line(number: int, guess: Guess, count: int) -> str:
    """The words for one mask, the likeliest first, shaded by their probability."""
    name = _("For the mask:") if count == 1 else _("For mask {number}:", number=number)
    chips = [
        f"<span class='bv-chip{' bv-strong' if p > show.INK_TURNS else ''}' style='--w:{100 * p:.1f}%'>"
        f"{html.escape(visible(label))} {html.escape(percent(p))}</span>"
        for label, p in guess.candidates
    ]
    return f"<p class='bv-text bv-encoder'><span class='bv-note'>{html.escape(name)}</span> {' '.join(chips)}</p>"
