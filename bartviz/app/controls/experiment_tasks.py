"""An experiment as a task: started when its settings change, and cached by everything it depends on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar

from bartviz.analysis.sentence_words import shortened
from bartviz.app.controls import show, tasks
from bartviz.language import _

if TYPE_CHECKING:
    from bartviz.models.model import Model
    from bartviz.record.record import Record
    from bartviz.serving.gate import Ticket


T = TypeVar("T")
LARGE = 1e11  # parameters x tokens x runs; from here on (about ten seconds) a button starts the task


def identity(record: Record) -> dict[str, object]:
    """The identity of a record as JSON values: its ids and its settings."""
    parts: dict[str, object] = {"source": record.source.ids.tolist(), "segments": record.source.segments.tolist()}
    if record.decoder is not None:
        parts["inputs"] = record.decoder.query.ids.tolist()
    if record.output is not None:
        parts["output"] = record.output.ids.tolist()
    parts["rows"] = [step.row for step in record.steps]
    parts["settings"] = {name: str(value) for name, value in record.provenance.settings.items()}
    return parts | {"made_by": record.model.fingerprint, "text": record.source_text}


def large(record: Record, runs: int) -> bool:
    """Whether this many runs of a record's model take so long that a button should start them."""
    tokens = len(record.source) + (len(record.output) if record.cross is not None and record.output is not None else 0)
    return record.model.parameters * tokens * runs > LARGE


def ask(
    name: str,
    record: Record,
    key: Mapping[str, object],
    work: Callable[[Model, Ticket[T]], T],
    *,
    button: str | None = None,
) -> T | None:
    """The result of a task about this record; see ``tasks.ask``. Raises WeightsOnlyError."""
    record.expect_model()
    return tasks.ask(name, record.model.name, identity(record) | dict(key), work, button=button)


def note_ablated(record: Record) -> None:
    """Add a note if the record itself was made with scaled heads, which experiments do not repeat."""
    names = record.provenance.settings.get("ablated", ())
    if isinstance(names, tuple) and names:
        show.note(
            _(
                "This record was made with scaled heads ({shortened}). Here “before” is the model with all "
                "its heads unchanged.",
                shortened=shortened([str(name) for name in names]),
            )
        )
