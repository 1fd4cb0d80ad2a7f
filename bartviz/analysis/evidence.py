"""How sure it is that heads follow a pattern: tests over texts, and which of many heads pass them.

Letters in shapes: N texts, C heads.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bartviz.analysis import intervals
from bartviz.analysis.head_names import worth
from bartviz.arrays import Bools

Doubles = NDArray[np.float64]
_STEPS = 300  # of the continued fraction; it converges in about the root of its arguments
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Evidence:
    """Of C heads over some texts: in how many texts ``n`` the pattern applies, the mean ``share`` of weight on it with
    its 95% interval, that of ``even`` attention and on ``shuffled`` marks (NaN where all rows look for the same), ``p``
    one-sided against both, ``q`` after Benjamini and Hochberg, and which heads ``pass``."""

    n: NDArray[np.int64]
    share: Doubles
    low: Doubles
    high: Doubles
    even: Doubles
    shuffled: Doubles
    p: Doubles
    q: Doubles
    passes: Bools

    @classmethod
    def of(
        cls, share: Doubles, even: Doubles, shuffled: Doubles, above: Doubles, *, rate: float, least: float
    ) -> Evidence:
        """From the values of texts (N, C), NaN where the pattern does not apply: ``above`` is the share less that on
        shuffled marks, over the rows that have some.

        A head passes if q is at most ``rate``, and its weight is worth the name: the lower end of the interval is at
        least ``least``, and 1.5 times what even attention and shuffled marks have (``head_names.worth``).
        """
        n = np.isfinite(share).sum(axis=0)
        mean = mean_of(share)
        low, high = intervals.of_shares(n, mean, _sd(share))
        expected, control = mean_of(even), mean_of(shuffled)
        against = upper_tail(above)
        p = np.fmax(upper_tail(share - even), np.where(np.isfinite(control), against, np.nan))
        q = benjamini_hochberg(p)
        needed = np.maximum(worth(expected), worth(control))
        with np.errstate(invalid="ignore"):
            passes = (q <= rate) & (low >= least) & (low >= needed - 1e-9)
        return cls(n, mean, low, high, expected, control, p, q, passes)


def mean_of(values: Doubles) -> Doubles:
    """(C,) the means of what is there of (N, C); NaN without any."""
    n = np.isfinite(values).sum(axis=0)
    total = np.where(np.isfinite(values), values, 0.0).sum(axis=0)
    return np.where(n > 0, total / np.maximum(n, 1), np.nan)


def _sd(values: Doubles) -> Doubles:
    n, mean = np.isfinite(values).sum(axis=0), mean_of(values)
    squares = np.where(np.isfinite(values), (values - mean) ** 2, 0.0).sum(axis=0)
    return np.where(n > 1, np.sqrt(squares / np.maximum(n - 1, 1)), np.nan)


def upper_tail(values: Doubles) -> Doubles:
    """(C,) one-sided p of a mean of (N, C) above 0, by Student's t; NaN for fewer than two values.

    Equal values are no luck: p is 0 above 0, and 1 otherwise.
    """
    n, mean, sd = np.isfinite(values).sum(axis=0), mean_of(values), _sd(values)
    found = np.full(len(mean), np.nan)
    for at in np.flatnonzero(n > 1):
        if sd[at] > 0:
            found[at] = student_tail(mean[at] * math.sqrt(n[at]) / sd[at], int(n[at]) - 1)
        else:
            found[at] = 0.0 if mean[at] > 0 else 1.0
    return found


def student_tail(t: float, free: int) -> float:
    """P(T >= t) for Student's t with so many degrees of freedom (Abramowitz and Stegun 1964, 26.7.1 and 26.5.8)."""
    half = 0.5 * _incomplete_beta(free / 2, 0.5, free / (free + t * t))
    return half if t > 0 else 1 - half


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """I_x(a, b), regularized."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):  # there the fraction converges quickly from the other side
        return 1 - _incomplete_beta(b, a, 1 - x)
    log = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(log) * _fraction(a, b, x) / a


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    c, d = 1.0, 1 / _apart(1 - (a + b) * x / (a + 1))
    found = d
    for step in range(1, _STEPS):
        even = step * (b - step) * x / ((a + 2 * step - 1) * (a + 2 * step))
        odd = -(a + step) * (a + b + step) * x / ((a + 2 * step) * (a + 2 * step + 1))
        for term in (even, odd):
            d = 1 / _apart(1 + term * d)
            c = _apart(1 + term / c)
            found *= c * d
        if abs(c * d - 1) < 1e-14:
            break
    return found


def _apart(number: float) -> float:
    """The number, kept apart from 0."""
    return number if abs(number) > _TINY else _TINY


def benjamini_hochberg(p: Doubles) -> Doubles:
    """(C,) the least false-discovery rate at which each would be named (Benjamini and Hochberg 1995); NaN stays."""
    found = np.full(len(p), np.nan)
    known = np.flatnonzero(np.isfinite(p))
    order = known[np.argsort(p[known], kind="stable")]
    if len(order):
        scaled = p[order] * len(order) / np.arange(1, len(order) + 1)
        found[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return found
