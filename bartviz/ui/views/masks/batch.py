"""Several short texts padded into one batch, for the masks page, which waits for the result and shows the padding."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeVar

import streamlit as st

from bartviz.language import _, later
from bartviz.serving.gate import Ticket
from bartviz.ui.controls import show
from bartviz.ui.state import session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bartviz.models.model import Model
    from bartviz.record.record import Record

T = TypeVar("T")


def run(name: str, texts: Sequence[str]) -> tuple[Record, ...]:
    """The record of each text, padded to the longest, from one pass of the model of this name.

    The script run waits here, shows the progress, and stops the work when it is itself stopped (by a new click).
    Raises TextError, ModelError, BudgetError, Cancelled, Busy.
    """
    owner, engine = session.owner(), session.engine()
    ticket_owner, alive = f"{owner} batch", partial(session.is_alive, owner)
    model = _await(engine.loading.submit(ticket_owner, lambda ticket: engine._load(ticket, name), alive=alive))
    return _await(engine.gate.submit(ticket_owner, lambda ticket: _capture(ticket, model, texts), alive=alive))


def _capture(ticket: Ticket[tuple[Record, ...]], model: Model, texts: Sequence[str]) -> tuple[Record, ...]:
    from bartviz.run.forward import capture_batch

    ticket.report(later("Running the model"))
    return capture_batch(model, texts, cancelled=ticket.cancelled)


def _await(ticket: Ticket[T]) -> T:
    """Wait for the ticket's result; at every poll Streamlit may stop this script."""
    placeholder = st.empty()
    try:
        while not ticket.wait(0.2):
            queued = _("Waiting: {count} before this one", count=ticket.position)
            note = queued if ticket.state == "waiting" else _(ticket.note)
            placeholder.caption(show.plain(note or _("Starting")))
        return ticket.result()
    finally:
        placeholder.empty()
        ticket.cancel()
