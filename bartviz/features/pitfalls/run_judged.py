"""Readings of attention against random orders of the words, in the turn of a visitor's task."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bartviz.analysis.verdicts import Verdict
from bartviz.attribution.judge import judge
from bartviz.models.model import Model
from bartviz.record.record import Record


def verdicts(
    model: Model, record: Record, methods: Sequence[str], cancelled: Callable[[], bool]
) -> tuple[tuple[str, Verdict, float], ...]:
    """Each method with its verdict, over all that was written from a text, and the share of random orders (0..1) that
    it is better than, equal ones half. Raises as ``judge``."""
    found = judge(model, record, methods, cancelled=cancelled)
    return tuple((one.method, one.verdict, one.rank + 0.5) for one in found.judgements)
