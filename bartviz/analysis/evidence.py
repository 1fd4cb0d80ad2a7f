"""How sure it is that heads follow a pattern: tests over texts, and which of many heads pass them.

Letters in shapes: N texts, C heads.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bartviz.analysis import intervals, verdicts
from bartviz.analysis.head_names import worth
from bartviz.analysis.intervals import Doubles, Whole
from bartviz.analysis.means import Means
from bartviz.arrays import Bools


@dataclass(frozen=True, eq=False)
class Evidence:
    """Of C heads over some texts: in how many texts ``n`` the pattern applies, the mean ``share`` of weight on it with
    its 95% interval, how many times ``wider`` alike neighbours made it, the share of ``even`` attention and on
    ``shuffled`` marks (NaN where all rows look for the same), ``p`` one-sided against both, ``q`` after Benjamini and
    Hochberg, and which heads ``pass``."""

    n: Whole
    share: Doubles
    low: Doubles
    high: Doubles
    wider: Doubles
    even: Doubles
    shuffled: Doubles
    p: Doubles
    q: Doubles
    passes: Bools

    @classmethod
    def of(
        cls,
        share: Doubles,
        even: Doubles,
        shuffled: Doubles,
        above: Doubles,
        *,
        rate: float,
        least: float,
        texts: Whole | None = None,
    ) -> Evidence:
        """From the values of texts (N, C), NaN where the pattern does not apply: ``above`` is the share less that on
        shuffled marks, over the rows that have some. ``texts``: their places, as for ``Means.of``.

        A head passes if q is at most ``rate``, and its weight is worth the name: the lower end of the interval is at
        least ``least``, and 1.5 times what even attention and shuffled marks have (``head_names.worth``).
        """
        found = Means.of(share, texts)
        low, high = intervals.of_shares(found.n, found.mean, found.spread)
        expected, control = Means.of(even).mean, Means.of(shuffled).mean
        against = Means.of(above, texts).above
        p = np.fmax(Means.of(share - even, texts).above, np.where(np.isfinite(control), against, np.nan))
        q = verdicts.adjusted(p)
        needed = np.maximum(worth(expected), worth(control))
        with np.errstate(invalid="ignore"):
            passes = (q <= rate) & (low >= least) & (low >= needed - 1e-9)
        return cls(found.n, found.mean, low, high, found.wider, expected, control, p, q, passes)
