"""Every check of the current record, and a button that runs the model again and compares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from bartviz.analysis import sentence_words
from bartviz.app.controls import show, tasks
from bartviz.app.frame import levels, status
from bartviz.app.state import content
from bartviz.language import _
from bartviz.record.attention import KINDS

if TYPE_CHECKING:
    from bartviz.experiments.verify import Verification
    from bartviz.models.model import Model
    from bartviz.record.checks import Check
    from bartviz.record.record import Record
    from bartviz.serving.gate import Ticket

TASK = "verify"


def draw(record: Record) -> None:
    """For experts, in an expander: every check with its number, and a button that replays the record."""
    if not levels.at_least("expert"):
        return
    with st.expander(_("The checks of this record"), key="checks", on_change="rerun") as expander:
        if not expander.open:
            return
        _table(record.check())
        if record.from_weights:
            return
        show.note(
            _(
                "A second run of the model over the same tokens compares every number that the pages show, the texts, "
                "and how each token was chosen."
            )
        )

        def work(model: Model, ticket: Ticket[Verification]) -> Verification:
            from bartviz.experiments.verify import verify

            return verify(model, record, cancelled=ticket.cancelled)

        verified = tasks.ask(
            TASK, record.model.name, {"record": content.key(record)}, work, button=_("Run the model again and compare")
        )
        if verified is not None:
            _table(verified)
            show.note(_("Not compared: {facts}.", facts="; ".join(map(_, verified.not_compared))))


def _table(checks: Sequence[Check]) -> None:
    """One row per check, one column per kind of attention; the last column is about the whole record."""
    import pandas as pd  # imported late: the first picture does not need it

    kinds = [kind for kind in KINDS if any(check.kind == kind for check in checks)]
    names = list(dict.fromkeys(check.name for check in checks))
    cells = {(check.name, check.kind): f"{'✓' if check.passed else '✗'} {status.value(check)}" for check in checks}
    columns = {sentence_words.kind(kind): [cells.get((name, kind), "") for name in names] for kind in kinds}
    columns[_("the record")] = [cells.get((name, None), "") for name in names]
    st.table(pd.DataFrame(columns, index=[_(name) for name in names]))
