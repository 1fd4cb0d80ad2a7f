"""The mask of a pattern for a record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bartviz.analysis.gold_alignment import Gold
from bartviz.arrays import Bools
from bartviz.errors import SettingError
from bartviz.language import later
from bartviz.patterns import pair
from bartviz.patterns.grammar import Pattern, parse, without_meaning
from bartviz.patterns.pair import Unfit
from bartviz.record.attention import Kind
from bartviz.record.record import Record

Function = Callable[[Record, Kind], Any]
"""A pattern of one's own: a record and a kind of attention -> (Q, K) where the rows look."""


def pattern_mask(record: Record, kind: Kind, pattern: str | Pattern | Function, *, gold: Gold | None = None) -> Bools:
    """(Q, K) where the rows of a record's attention look that follow a pattern, of what they may see.

    pattern: in the language of docs/patterns.md, or a function of the record and the kind that returns such a mask.
    gold: an alignment by hand, to which ``link`` refers. Trees and columns belong to a corpus, not to a record.
    Raises PatternError for a pattern that cannot be read, SettingError for one without a meaning for the kind, or a
    mask of another shape.

    >>> bartviz.pattern_mask(record, "encoder", "from any to previous token").sum(axis=1).tolist()
    [0, 1, 1, 1, 1, 1, 1, 1, 1]
    """
    attention = record.attention(kind)
    if callable(pattern) and not isinstance(pattern, Pattern):
        return checked(pattern(record, kind), np.asarray(attention.mask, np.bool_))
    known = pattern if isinstance(pattern, Pattern) else parse(pattern)
    try:
        return known.mask(pair.of_record(record, kind, gold))
    except Unfit as reason:
        raise without_meaning(kind, reason) from reason


def checked(given: Any, visible: Bools) -> Bools:
    """The mask (Q, K) that a function returned, of what rows may see. Raises SettingError for another shape."""
    found = np.asarray(given)
    if found.shape != visible.shape:
        raise SettingError(
            later(
                "The pattern returned a mask of shape {shape}, but there are {rows} rows and {columns} columns.",
                shape=found.shape,
                rows=visible.shape[0],
                columns=visible.shape[1],
            )
        )
    return found.astype(np.bool_) & visible
