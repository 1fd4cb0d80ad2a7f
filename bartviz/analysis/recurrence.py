"""Before attention: a network that reads word by word, and hands the decoder one vector for the whole text.

Everything is counted for the texts of a record and the width of its model (Vaswani et al. 2017, table 1; Bahdanau et
al. 2015 on the one vector). Letters: n source tokens, m rows, d width.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bartviz.arrays import Floats
from bartviz.language import _, mark
from bartviz.record.attention import Kind
from bartviz.record.record import Record
from bartviz.text.tokens import Tokens

if TYPE_CHECKING:
    import pandas as pd

STEPS = mark("sequential steps")
LONGEST = mark("longest path between two tokens, in steps")
CARRIED = mark("numbers that represent the text")
EACH = mark("of these for each token")
COUNTED = mark("multiply-adds of a layer")
LINES = (STEPS, LONGEST, CARRIED, EACH, COUNTED)


@dataclass(frozen=True)
class Recurrence:
    """Path lengths in a recurrent network with the texts of a record, compared with those of attention.

    ``recurrent`` and ``attention`` (m, n) float32: the steps from the token of a column to that of a row, NaN where
    the row may not know the column. ``kind``: cross-attention in an encoder-decoder, where the recurrent one has a
    single vector between text and output; else the attention within the text.
    """

    kind: Kind
    rows: Tokens
    columns: Tokens
    width: int
    recurrent: Floats
    attention: Floats

    @property
    def longest(self) -> int:
        """Steps of the longest path in the recurrent network."""
        return int(np.nanmax(self.recurrent))

    @property
    def waiting(self) -> int:
        """Steps that a recurrent network takes one after another."""
        n, m = len(self.columns), len(self.rows)
        return n + m if self.kind == "cross" else n

    @property
    def multiply_adds(self) -> tuple[int, int]:
        """Of one layer over the n tokens: a recurrent one has a product with the input and one with the state, 2nd²;
        attention has four projections, scores and weighted sums, 4nd² + 2n²d."""
        n, d = len(self.columns), self.width
        return 2 * n * d * d, 4 * n * d * d + 2 * n * n * d


def recurrence(record: Record) -> Recurrence:
    """The path lengths for the texts of a record."""
    kind: Kind = "cross" if record.cross is not None else record.kinds[0]
    rows, columns = record.rows(kind), record.attention(kind).key
    row, column = np.arange(len(rows))[:, None], np.arange(len(columns))[None]
    if kind == "cross":
        # From column i to the last source token, from there to the decoder, and on to row t.
        steps, direct = (len(columns) - 1 - column) + 1 + row, np.ones((len(rows), len(columns)))
    else:
        steps = np.abs(row - column)
        direct = (steps > 0).astype(float)
    recurrent, attention = steps.astype(np.float32), direct.astype(np.float32)
    if kind == "decoder":
        recurrent[column > row] = attention[column > row] = np.nan
    return Recurrence(kind, rows, columns, record.model.width, recurrent, attention)


def sentence(one: Recurrence) -> str:
    """A sentence that points out what is notable, in the reader's language."""
    if one.kind == "cross":
        return _(
            "A recurrent encoder-decoder puts {count} tokens into one vector of {width:,} numbers, and "
            "passes the first of them on {longest} times until the last word is written. Cross-attention "
            "takes one step, and keeps {width:,} numbers for each token.",
            count=len(one.columns),
            width=one.width,
            longest=one.longest,
        )
    return _(
        "In a recurrent network, the information of the first of {count} tokens is passed on {longest} times "
        "before it reaches the last. Attention takes one step between any two.",
        count=len(one.columns),
        longest=one.longest,
    )


def table(one: Recurrence) -> pd.DataFrame:
    """One line for each quantity, with its number in a recurrent network and with attention."""
    import pandas as pd  # the start page does without it

    n, d = len(one.columns), one.width
    recurrent, attention = one.multiply_adds
    return pd.DataFrame(
        {
            "quantity": LINES,
            "recurrent": [one.waiting, one.longest, d, d / n, recurrent],
            "attention": [1, 1, n * d, d, attention],
        }
    )
