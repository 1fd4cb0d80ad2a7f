"""An experiment as a task: begun when its settings change, kept by all that it depends on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol, TypeVar

from bartviz.analysis.sentence_words import shortened
from bartviz.language import _
from bartviz.ui.controls import show, tasks

if TYPE_CHECKING:
    from bartviz.models.model import Model
    from bartviz.record.record import Record
    from bartviz.serving.gate import Ticket


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
    """The answer to a question about this record, as ``tasks.ask`` gives it."""
    return tasks.ask(name, record.model.name, identity(record) | dict(key), work, size, button=button)


def say_ablated(record: Record) -> None:
    """Say so where the record itself comes from a run with scaled heads: no experiment repeats that."""
    names = record.provenance.settings.get("ablated", ())
    if isinstance(names, tuple) and names:
        show.note(
            _(
                "This record was made with heads scaled ({shortened}). Here before is the model with all its "
                "heads as they are.",
                shortened=shortened([str(name) for name in names]),
            )
        )
