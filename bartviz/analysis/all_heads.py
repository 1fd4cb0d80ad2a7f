"""Every weight of a record as one tidy table: a row for each cell of each head.

Letters in shapes: L layers, H heads, Q query rows, K key columns, C cells that a mask leaves open.
"""

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
    """Kind, layer, head, query and key (positions), their tokens, and the weight, in this order.

    Cells that the mask closes are left out: their weight is 0. Rows of cross-attention have the token that they
    predict, as on the pages. Raises BudgetError over MAX_ROWS.
    """
    import pandas as pd

    check(record)
    parts = []
    for kind in record.kinds:
        attention = record.attention(kind)
        layers, heads = attention.shape[:2]
        rows, columns = np.nonzero(attention.mask)  # (C,), (C,)
        weights = [attention.layer(layer)[:, rows, columns].reshape(-1) for layer in range(layers)]  # L of (H * C,)
        queries, keys = (np.array(tokens.labels, dtype=object) for tokens in (record.rows(kind), attention.key))
        each = layers * heads
        parts.append(
            pd.DataFrame(
                {
                    "kind": kind,
                    "layer": np.repeat(np.arange(layers), heads * len(rows)),
                    "head": np.tile(np.repeat(np.arange(heads), len(rows)), layers),
                    "query": np.tile(rows, each),
                    "query token": np.tile(queries[rows], each),
                    "key": np.tile(columns, each),
                    "key token": np.tile(keys[columns], each),
                    "weight": np.concatenate(weights),
                }
            )
        )
    return pd.concat(parts, ignore_index=True)
