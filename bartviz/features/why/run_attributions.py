"""The model's answers that the page shows, each in the turn of a visitor's task."""

from __future__ import annotations

from collections.abc import Callable

from bartviz.analysis.attribution import Attribution
from bartviz.attribution.attribute import attribute
from bartviz.errors import BudgetError, SettingError
from bartviz.features.why.numbers import Refused
from bartviz.models.model import Model
from bartviz.record.record import Record


def explained(
    model: Model, record: Record, method: str, step: int, contrast: str | None, cancelled: Callable[[], bool]
) -> Attribution | Refused:
    """One step of a record by one method, or the reason why there is nothing; others are still worth asking then."""
    try:
        return attribute(model, record, method=method, step=step, contrast=contrast, cancelled=cancelled)
    except (SettingError, BudgetError) as error:
        return Refused(error)
