"""The model's answers that the page shows, each in the turn of a visitor's task."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bartviz.analysis.attribution import Attribution
from bartviz.attribution.attribute import attribute, captured
from bartviz.attribution.judge import Judged, judge, without
from bartviz.attribution.removal import Operator
from bartviz.errors import BudgetError, SettingError, TextError
from bartviz.features.why.numbers import Refused, Taken
from bartviz.models.model import Model
from bartviz.record.record import Record


def explained(
    model: Model,
    record: Record,
    method: str,
    step: int,
    contrast: str | None,
    cancelled: Callable[[], bool],
    on_progress: Callable[[str, float | None], None] = lambda note, fraction: None,
) -> Attribution | Refused:
    """One step of a record by one method, or the reason why there is nothing; others are still worth asking then."""
    try:
        return attribute(
            model, record, method=method, step=step, contrast=contrast, cancelled=cancelled, on_progress=on_progress
        )
    except (SettingError, BudgetError) as error:
        return Refused(error)


def judged(
    model: Model,
    record: Record,
    methods: Sequence[str],
    operator: Operator,
    cancelled: Callable[[], bool],
    on_progress: Callable[[int, int], None],
) -> Judged | Refused:
    """Methods on all that a record's model wrote, against random orders of the same words."""
    try:
        return judge(model, record, methods, operator=operator, cancelled=cancelled, on_progress=on_progress)
    except (SettingError, BudgetError, TextError) as error:
        return Refused(error)


def removed(
    model: Model,
    record: Record,
    step: int,
    sets: Sequence[Sequence[int]],
    names: Sequence[Sequence[str]],
    operator: Operator,
    cancelled: Callable[[], bool],
) -> tuple[Taken, ...] | Refused:
    """A step with every word of the source, and without each of the sets, whose words have these names; and what the
    model then writes, from the beginning."""
    found = list[Taken]()
    try:
        for words, spoken in zip(sets, names, strict=True):
            one = without(model, record, words, step=step, operator=operator, cancelled=cancelled)
            if not found:
                found.append(Taken((), one.before, one.written_before, _written(model, record)))
            again = captured(model, one.read, None, cancelled) if record.cross is not None else None
            output = "" if again is None else _written(model, again)
            found.append(Taken(tuple(spoken), one.after, one.written_after, output))
    except (SettingError, BudgetError, TextError) as error:
        return Refused(error)
    return tuple(found)


def _written(model: Model, record: Record) -> str:
    """The output as text, of a model whose output is a text of its own."""
    if record.output is None or record.cross is None:
        return ""
    text: str = model.tokenizer.decode(record.output.ids.tolist(), skip_special_tokens=True)
    return text.strip()
