"""The 95% interval of a mean over texts, undefined for too few texts, and of the difference of two means.

Student's t, joined with the same interval of the log odds of a share, or of the logarithm of what has no highest value;
the ends are within what the measure can be. Where nearly all texts have nothing, or all, a few others may make most of
the mean; a sample often lacks them, and its standard deviation is then too small: there the interval counts texts that
it has not seen. docs/statistics.md has how often each holds the mean, of values that were measured and of drawn ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bartviz.analysis.head_measures import Measure

Doubles = NDArray[np.float64]
Whole = NDArray[np.int64]

FEW = 30
"""Texts, below which an interval rests on a few values, and is said to."""
NORMAL = 1.959964
"""Standard errors to each side of a 95% interval from very many values."""
END = 0.01
"""Of the way from the lowest to the highest value of a measure: a mean as near to one of them may be that of many texts
with nothing and few with much, of which a sample can lack the few."""
_CLOSE = 1e-7  # nearer to an end than this, float32 knows no logarithms
_EXACT = 1e-14  # a factor as near to 1 changes a fraction no more
_TERMS = 200  # of the continued fraction: enough for 10 digits at 10 million degrees of freedom
# Quantiles of Student's t for 97.5%, with 1 to 30 degrees of freedom.
_STUDENT = np.array(
    [12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281, 2.2010, 2.1788, 2.1604, 2.1448,
     2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860, 2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484,
     2.0452, 2.0423]
)  # fmt: skip


def student(n: Whole | Doubles) -> Doubles:
    """The standard errors to each side of a 95% interval from n values; NaN for fewer than two."""
    free = np.asarray(n, np.float64) - 1
    # beyond the table the first terms of its expansion (Abramowitz and Stegun 1964, 26.7.5), to four digits
    z, many = NORMAL, np.maximum(free, 30)
    beyond = z + (z**3 + z) / (4 * many) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * many**2)
    table = _STUDENT[np.clip(free, 1, len(_STUDENT)).astype(np.int64) - 1]
    return np.where(free < 1, np.nan, np.where(free <= len(_STUDENT), table, beyond))


def chance(t: Doubles, free: Doubles) -> Doubles:
    """The probability that Student's t with this many degrees of freedom (fractions too) is as far from 0 as ``t`` on
    either side: two-sided; NaN where either is. As the incomplete beta function, by its continued fraction (Abramowitz
    and Stegun 1964, 26.5.8 and 26.7.1).

    >>> chance(np.array([2.2281, 0.0]), np.array([10.0, 10.0])).round(4).tolist()
    [0.05, 1.0]
    """
    t, free = np.broadcast_arrays(np.asarray(t, np.float64), np.asarray(free, np.float64))
    known = np.isfinite(free) & (free > 0) & ~np.isnan(t)
    if not known.all():
        found = np.full(t.shape, np.nan)
        found[known] = chance(t[known], free[known])
        return found
    square = np.where(np.isinf(t), np.inf, t) ** 2
    near = square * (free + 2) < 3 * free  # where the fraction for the rest of the area ends sooner
    with np.errstate(invalid="ignore"):
        x = np.where(np.isinf(square), 0.0, free / (free + square))
    half = np.full_like(x, 0.5)
    a, b = np.where(near, half, free / 2), np.where(near, free / 2, half)
    area = _beta(np.where(near, 1 - x, x), a, b)
    return np.asarray(np.clip(np.where(near, 1 - area, area), 0.0, 1.0))


def _beta(x: Doubles, a: Doubles, b: Doubles) -> Doubles:
    """The regularised incomplete beta function of x, 0 <= x < (a + 1) / (a + b + 2) or little more."""
    gamma = np.vectorize(math.lgamma, otypes=[np.float64])
    with np.errstate(divide="ignore"):
        front = np.exp(a * np.log(x) + b * np.log1p(-x) - gamma(a) - gamma(b) + gamma(a + b)) / a
    c, d = np.ones_like(x), 1 / (1 - (a + b) * x / (a + 1))
    fraction = d.copy()
    for m in range(1, _TERMS):  # Lentz's method
        for factor in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d, c = 1 / (1 + factor * d), 1 + factor / c
            fraction *= c * d
        if np.all(np.abs(c * d - 1) < _EXACT):
            break
    return np.asarray(front * fraction)


def of_means(
    measures: Sequence[Measure], n: Whole, mean: Doubles, sd: Doubles, largest: Doubles
) -> tuple[Doubles, Doubles]:
    """The ends (C,) of the intervals of means (C,) of measures; NaN where undefined.

    n, sd: the number of values and their standard deviation (n - 1); ``largest``: the largest value.
    """
    highest = np.array([measure.highest if measure.highest is not None else np.inf for measure in measures])
    lowest = np.array([measure.lowest if measure.lowest is not None else -np.inf for measure in measures])
    low, high = _ends(n, mean, sd, np.where(np.isfinite(lowest), highest, np.nan))
    rare = np.array([measure.rare for measure in measures], np.bool_)
    if rare.any():
        low[rare], high[rare] = _with_one_more(n[rare], mean[rare], sd[rare], largest[rare])
    return np.maximum(low, lowest), np.minimum(high, highest)


def of_shares(n: Whole, mean: Doubles, sd: Doubles) -> tuple[Doubles, Doubles]:
    """The ends (C,) of the intervals of means (C,) of shares, of 0 to 1; ``n`` and ``sd`` as for ``of_means``.

    >>> low, high = of_shares(np.array([4]), np.array([0.95]), np.array([0.0356]))
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.852], [1.0])
    """
    low, high = _ends(n, mean, sd, np.ones(len(mean)))
    return np.maximum(low, 0.0), np.minimum(high, 1.0)


def _ends(n: Whole, mean: Doubles, sd: Doubles, highest: Doubles) -> tuple[Doubles, Doubles]:
    """The ends of ``_joined``, and of ``_with_ends``, too, where the mean is near 0 or ``highest``."""
    low, high = _joined(n, mean, student(n) * sd / np.sqrt(np.maximum(n, 1)), highest)
    with np.errstate(invalid="ignore"):
        near = np.isfinite(highest) & (np.minimum(mean, highest - mean) < END * highest)
    if near.any():
        below, above = _with_ends(n[near], mean[near], sd[near], highest[near])
        low[near], high[near] = np.minimum(low[near], below), np.maximum(high[near], above)
    return low, high


def _joined(n: Whole, mean: Doubles, error: Doubles, highest: Doubles) -> tuple[Doubles, Doubles]:
    """The ends of mean ± error, joined with those of the same interval of the log odds, or of the logarithm without a
    highest value, by the delta method (Agresti 2013, 3.1): values near an end of what a measure can be are lopsided,
    and the first interval alone is too short. It is alone where ``highest`` is NaN, and for two texts without a
    highest value, whose 12.7 standard errors say nothing on the scale of logarithms."""
    bounded = np.isfinite(highest)
    rest = np.where(bounded, 1 - mean / np.where(bounded, highest, 1.0), 1.0)  # of the way to the highest
    inside = (mean > _CLOSE) & (rest > _CLOSE) & (bounded | (np.isinf(highest) & (n > 2)))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        factor = np.exp(error / (mean * rest))
        below = mean / (rest * factor + 1 - rest)
        above = np.where(bounded, mean / (rest / factor + 1 - rest), mean * factor)
    low, high = mean - error, mean + error
    return np.where(inside, np.minimum(low, below), low), np.where(inside, np.maximum(high, above), high)


def _with_ends(n: Whole, mean: Doubles, sd: Doubles, highest: Doubles) -> tuple[Doubles, Doubles]:
    """As if half a text more had been at each end of what the measure can be (after Agresti and Coull 1998)."""
    count = n + 1.0
    centre = (n * mean + highest / 2) / count
    squares = (n - 1) * sd**2 + n * mean**2 + highest**2 / 2
    spread = np.sqrt(np.maximum(squares - count * centre**2, 0) / np.maximum(count - 1, 1))
    error = student(n) * spread / np.sqrt(count)
    return centre - error, centre + error


def _with_one_more(n: Whole, mean: Doubles, sd: Doubles, largest: Doubles) -> tuple[Doubles, Doubles]:
    """As if one text more had twice the largest value: upwards there is no end, and a rare text may be far out. Nothing
    for few texts, which cannot say how rare."""
    error = student(n) * sd / np.sqrt(np.maximum(n, 1))
    count = n + 1.0
    centre = (n * mean + 2 * largest) / count
    squares = (n - 1) * sd**2 + n * mean**2 + 4 * largest**2
    spread = np.sqrt(np.maximum(squares - count * centre**2, 0) / np.maximum(n, 1))
    wide = student(n) * spread / np.sqrt(count)
    few = n < FEW
    low, high = np.minimum(mean - error, centre - wide), np.maximum(mean + error, centre + wide)
    return np.where(few, np.nan, low), np.where(few, np.nan, high)


def of_difference(
    mean: Doubles, low: Doubles, high: Doubles, other_mean: Doubles, other_low: Doubles, other_high: Doubles
) -> tuple[Doubles, Doubles]:
    """The ends of the interval of the other mean less the first, from their own intervals, of independent samples (Zou
    and Donner 2008). For equal and many texts it is the difference ± 1.96 √(sd₁² / n₁ + sd₂² / n₂)."""
    difference = other_mean - mean
    below = np.hypot(other_mean - other_low, high - mean)
    above = np.hypot(other_high - other_mean, mean - low)
    return difference - below, difference + above
