"""An experiment as a task: begun when its settings change, kept by all that it depends on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol, TypeVar

import streamlit as st

from bartviz.analysis.ablation import shortened
from bartviz.ui import show, tasks

if TYPE_CHECKING:
    from bartviz.gate import Ticket
    from bartviz.models import Model
    from bartviz.record import Record


class Sized(Protocol):
    @property
    def nbytes(self) -> int: ...


T = TypeVar("T")
LARGE = 1e11  # parameters x tokens x runs from which on a press of a button is asked for: some ten seconds


def identity(record: Record) -> dict[str, object]:
    """What a record is, as JSON values: its ids and how it was made."""
    parts: dict[str, object] = {"source": record.source.ids.tolist(), "segments": record.source.segments.tolist()}
    if record.decoder is not None:
        parts["inputs"] = record.decoder.query.ids.tolist()
    if record.output is not None:
        parts["output"] = record.output.ids.tolist()
    parts["rows"] = [step.row for step in record.steps]
    parts["settings"] = {name: str(value) for name, value in record.provenance.settings.items()}
    return parts | {"made_by": record.model.fingerprint, "text": record.source_text}


def large(record: Record, runs: int) -> bool:
    """Whether so many runs of a record's model take long enough to be asked for."""
    tokens = len(record.source) + (len(record.output) if record.cross is not None and record.output is not None else 0)
    return record.model.parameters * tokens * runs > LARGE


def ask(
    name: str,
    record: Record,
    key: Mapping[str, object],
    work: Callable[[Model, Ticket[T]], T],
    size: Callable[[T], int],
    *,
    button: str | None = None,
) -> T | None:
    """The answer of a task for this record and these settings, begun here if nobody has; None while it is not there.

    With ``button`` it waits until that is pressed. What was stopped or failed can be begun again.
    """
    whole = identity(record) | dict(key)
    begin = (name, record.model.name, whole, work, size)
    if tasks.begun(name) != whole:
        if button is not None:
            tasks.drop(name)
            st.button(button, key=f"begin_{name}", type="primary", on_click=tasks.begin, args=begin)
            return None
        tasks.begin(*begin)
    found: T | None = tasks.show(name, whole)
    if found is None and tasks.ended(name):
        st.button("Run it again", key=f"again_{name}", on_click=tasks.begin, args=begin)
    return found


def say_ablated(record: Record) -> None:
    """Say so where the record itself comes from a run with scaled heads: no experiment repeats that."""
    names = record.provenance.settings.get("ablated", ())
    if isinstance(names, tuple) and names:
        show.note(
            f"This record was made with heads scaled ({shortened([str(name) for name in names])}). "
            "Here before is the model with all its heads as they are."
        )
