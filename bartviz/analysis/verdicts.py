"""Is a method better than chance? Ranks among random orders, tests of them, and a correction for how many were made.
NumPy alone.

Letters in shapes: n texts, R random orders of a text, C comparisons.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

import numpy as np

from bartviz.analysis.intervals import Doubles
from bartviz.language import mark

Verdict = Literal["better than chance", "not told apart", "worse than chance"]
BETTER: Final[Verdict] = mark("better than chance")
ALIKE: Final[Verdict] = mark("not told apart")
WORSE: Final[Verdict] = mark("worse than chance")
LEVEL = 0.05
"""The share of verdicts other than ``ALIKE`` that may be wrong (false discovery rate)."""
FLIPS = 9_999  # of the signs, at random
_BATCH = 999


def ranks(own: Doubles, random: Doubles) -> Doubles:
    """(n,) from numbers (n,) and those of random orders (n, R), the larger the better: the share of the orders that
    each is better than, equal ones half, less 1/2. That of a random order is symmetric about 0."""
    below = (random < own[:, None]).mean(axis=1) + (random == own[:, None]).mean(axis=1) / 2
    return np.asarray(below - 0.5, np.float64)


def rank_test(own: float, random: Doubles) -> float:
    """The probability that a random order's number is as far up, or as far down, as this one: two-sided, from those of
    random orders (R,).

    >>> rank_test(3.0, np.array([0.0, 1.0, 2.0]))  # of four orders the best: 1/4, and as likely the worst
    0.5
    """
    tail = min(int((random >= own).sum()), int((random <= own).sum()))
    return min(1.0, 2 * (tail + 1) / (len(random) + 1))


def sign_test(values: Doubles, seed: int = 0) -> Doubles:
    """(C,) the probability of a mean as far from 0 as that of each row of values (C, n), if every value had either sign
    as likely: two-sided, by random flips (Fisher 1935). A value of 0 has no say."""
    random = np.random.default_rng(seed)
    seen, far = np.abs(values.sum(axis=1)) * (1 - 1e-12), np.zeros(len(values))
    for start in range(0, FLIPS, _BATCH):
        signs = random.integers(0, 2, (values.shape[1], min(_BATCH, FLIPS - start))) * 2.0 - 1
        far += (np.abs(values @ signs) >= seen[:, None]).sum(axis=1)
    return np.asarray((1 + far) / (1 + FLIPS), np.float64)


def adjusted(p: Doubles) -> Doubles:
    """(C,) the lowest false discovery rates at which each comparison is a discovery, from probabilities (C,) (Benjamini
    and Hochberg 1995). NaN stays, and is no comparison; so for ``holm``."""
    return _stepped(p, lambda count: count / np.arange(1, count + 1), up=True)


def holm(p: Doubles) -> Doubles:
    """(C,) the lowest levels at which each comparison is told apart while a single mistake among all of them is no more
    likely than the level, from probabilities (C,) (Holm 1979).

    >>> holm(np.array([0.01, 0.04, np.nan, 0.03])).round(2).tolist()
    [0.03, 0.06, nan, 0.06]
    """
    return _stepped(p, lambda count: np.arange(count, 0.0, -1), up=False)


def _stepped(p: Doubles, factors: Callable[[int], Doubles], *, up: bool) -> Doubles:
    """(C,) the probabilities (C,) in ascending order times their factors, and no lower than those before them; from the
    highest ``up`` no higher than those after them."""
    known = np.flatnonzero(np.isfinite(p))
    order = known[np.argsort(p[known], kind="stable")]
    scaled = p[order] * factors(len(order))
    result = np.full(len(p), np.nan)
    steps = np.minimum.accumulate(scaled[::-1])[::-1] if up else np.maximum.accumulate(scaled)
    result[order] = np.minimum(steps, 1.0)
    return result


def verdict(rank: float, rate: float) -> Verdict:
    """In three words, by the (mean) rank and the adjusted probability."""
    if not rate <= LEVEL:
        return ALIKE
    return BETTER if rank > 0 else WORSE
