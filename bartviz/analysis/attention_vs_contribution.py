"""Attention and contribution: how much a head attends to a key, and how much that key adds to the output.

A weight scales a key's value but does not show the length of that value: a head may attend to a special token whose
value is nearly 0 (Kobayashi et al. 2020, section 4). Letters in shapes: Q query rows, K key columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bartviz.analysis import contributions, sentence_words
from bartviz.analysis.masks import quote
from bartviz.analysis.measures import counted
from bartviz.arrays import Floats, Ints
from bartviz.language import _
from bartviz.record.attention import Attention
from bartviz.text.tokens import Tokens

if TYPE_CHECKING:
    import pandas as pd

RANKED = 3  # keys that a row must be able to choose from for ranks to mean something


@dataclass(frozen=True, eq=False)
class Weighed:
    """The weights of one head and its norm-weighted attention, (Q, K) each; rows sum to 1.

    ``attention`` are the weights a(i, j); ``contribution`` is |a(i, j) W_O v_j| of each cell divided by the sum of its
    row, 0 where the head adds nothing. ``rank`` is Spearman's correlation of the two within a row, averaged over
    ``rows`` rows that count and have at least three keys; NaN where there is none.
    """

    attention: Floats
    contribution: Floats
    rank: float
    rows: int
    query: Tokens
    key: Tokens
    counts: NDArray[np.bool_]

    def apart(self, most: int = 8) -> list[tuple[int, int]]:
        """(row, column) of the cells whose two numbers differ most, in rows that count; at first one per column."""
        gap = np.abs(self.attention - self.contribution) * self.counts[:, None]  # (Q, K)
        order = np.argsort(-gap, axis=None, kind="stable")[: most * 8]
        cells = [tuple(map(int, np.unravel_index(place, gap.shape))) for place in order]
        cells = [cell for cell in cells if gap[cell] > 0]
        first = {column: (row, column) for row, column in reversed(cells)}
        rest = [cell for cell in cells if cell not in first.values()]
        leading = sorted(first.values(), key=lambda cell: -float(gap[cell]))
        return [(cell[0], cell[1]) for cell in [*leading, *rest][:most]]


def weigh(attention: Attention, layer: int, head: int, *, query: Tokens | None = None) -> Weighed:
    """A head's weights and contributions. Raises SettingError for a record without values or a head not there."""
    weights = attention.head(layer, head)  # (Q, K)
    norms = contributions.norms(attention, layer, head)  # (Q, K)
    total = norms.sum(axis=1, keepdims=True)
    shares = np.divide(norms, total, out=np.zeros_like(weights), where=total > 0)
    rows = query or attention.query
    counts = counted(attention, rows) & (total[:, 0] > 0)
    ranked = np.flatnonzero(counts & (attention.mask.sum(axis=1) >= RANKED))
    found = [
        spearman(weights[row, attention.mask[row]], shares[row, attention.mask[row]]) for row in ranked
    ]  # a row each
    known = [one for one in found if np.isfinite(one)]
    rank = float(np.mean(known)) if known else float("nan")
    return Weighed(weights, shares, rank, len(known), rows, attention.key, counts)


def spearman(a: NDArray[np.floating], b: NDArray[np.floating]) -> float:
    """Spearman's rank correlation of two rows (n,), equal numbers sharing a rank; NaN where one row is constant."""
    first, second = (ranks(one) - (len(one) + 1) / 2 for one in (a, b))
    length = float(np.sqrt((first**2).sum() * (second**2).sum()))
    return float(first @ second) / length if length else float("nan")


def ranks(values: NDArray[np.floating]) -> NDArray[np.float64]:
    """(n,) rank of each value from 1, the mean rank where values are equal."""
    _values, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends: Ints = np.cumsum(counts)
    middle = ends - (counts - 1) / 2
    return np.asarray(middle[inverse], np.float64)


def notice(weighed: Weighed, name: str) -> str:
    """One sentence: how well the two agree, and the column where they differ most."""
    who = sentence_words.capitalized(name)
    if not weighed.contribution.any():
        return _(
            "{head}: nothing that it looks at adds anything to the layer: the head is silenced, or its values are 0.",
            head=who,
        )
    said = _("{head}: no row has three keys to rank.", head=who)
    if weighed.rows:
        said = _(
            "{head}: within a row, the rank correlation of the two is {rank:.2f} (1: the same order, 0: none).",
            head=who,
            rank=weighed.rank,
        )
    cells = weighed.apart(1)
    if not cells:
        return said
    row, column = cells[0]
    apart = _(
        "Largest difference: {query} looks at {key} with {weight:.2f} and gets {share:.2f} of its contributions "
        "from it.",
        query=quote(weighed.query.labels[row]),
        key=quote(weighed.key.labels[column]),
        weight=weighed.attention[row, column],
        share=weighed.contribution[row, column],
    )
    return f"{said} {apart}"


def table(weighed: Weighed) -> pd.DataFrame:
    """The eight cells where the two differ most: row, key, whether that is special, both numbers, their difference."""
    import pandas as pd

    lines = [
        (
            row,
            weighed.query.labels[row],
            column,
            weighed.key.labels[column],
            bool(weighed.key.special[column]),
            float(weighed.attention[row, column]),
            float(weighed.contribution[row, column]),
        )
        for row, column in weighed.apart(8)
    ]
    frame = pd.DataFrame(lines, columns=["row", "query", "column", "key", "special", "attention", "contribution"])
    return frame.assign(difference=frame["contribution"] - frame["attention"])
