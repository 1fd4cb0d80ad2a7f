"""Several short texts padded into one batch, for the masks page, which waits for the result and shows the padding."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from bartviz.app import streamlit_internals
from bartviz.app.controls import progress, show
from bartviz.app.state import session
from bartviz.language import later
from bartviz.safety.size import size
from bartviz.serving.engine import fetching

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bartviz.models.model import Model
    from bartviz.record.record import Record
    from bartviz.serving.engine import Run
    from bartviz.serving.gate import Ticket

Records = tuple["Record", ...]


def run(name: str, texts: Sequence[str]) -> Records:
    """The record of each text, padded to the longest, from one pass of the model of this name.

    The script run waits here, shows the progress, and stops the work when it is itself stopped (by a new click).
    Raises TextError, ModelError (NotFetched for a model that nobody has asked for), BudgetError, Cancelled.
    """
    owner = session.owner()
    key = {"work": "batch", "texts": list(texts)}
    alive = partial(streamlit_internals.is_alive, owner)
    with fetching(session.may_fetch(name)):
        run = session.engine().work(f"{owner} batch", name, key, partial(_capture, texts), size, alive=alive)
    return _await(run)


def _capture(texts: Sequence[str], model: Model, ticket: Ticket[Records]) -> Records:
    from bartviz.run.forward import capture_batch

    ticket.report(later("Running the model"))
    return capture_batch(model, texts, padded=True, cancelled=ticket.cancelled)


def _await(run: Run[Records]) -> Records:
    """Wait for the run's result; at every poll Streamlit may stop this script."""
    placeholder = st.empty()
    try:
        while not run.wait(0.2):
            placeholder.caption(show.plain(progress.in_words(run)[0]))
        if run.error is not None:
            raise run.error
        records = run.result
        assert records is not None  # what ended without an error
        return records
    finally:
        placeholder.empty()
        run.cancel()
