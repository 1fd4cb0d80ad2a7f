"""Every weight of a record that a mask leaves open, as one tidy table of a size that a page can make."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bartviz.errors import BudgetError
from bartviz.language import later
from bartviz.record.record import Record

if TYPE_CHECKING:
    import pandas as pd

MAX_ROWS = 500_000  # some seconds of work and 20 MB of CSV


def count(record: Record) -> int:
    """The number of rows of ``table``."""
    return sum(
        attention.shape[0] * attention.shape[1] * int(attention.mask.sum())
        for attention in map(record.attention, record.kinds)
    )


def check(record: Record) -> int:
    """The number of rows of ``table``. Raises BudgetError if it is over MAX_ROWS."""
    rows = count(record)
    if rows > MAX_ROWS:
        raise BudgetError(
            later(
                "All heads together have {rows:,} weights; a table has at most {limit:,}. Run a shorter text, or save "
                "the record.",
                rows=rows,
                limit=MAX_ROWS,
            )
        )
    return rows


def table(record: Record) -> pd.DataFrame:
    """The lines of ``Record.to_dataframe`` whose cells the mask leaves open; the weight of the others is 0.

    Raises BudgetError over MAX_ROWS.
    """
    check(record)
    attentions = map(record.attention, record.kinds)
    opened = [np.broadcast_to(attention.mask, attention.shape).ravel() for attention in attentions]
    return record.to_dataframe()[np.concatenate(opened)].reset_index(drop=True)
