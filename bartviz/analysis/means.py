"""Means over texts: their spread, the tests against 0, and how much wider alike neighbours make both.

Every formula for independent texts takes ``sd / √n``. Texts that stand next to each other may be alike, as the
sentences of a book; blocks of them are then independent, but not the texts in them, and the standard error is enlarged
to what the blocks show. Letters in shapes: N texts, C columns, such as heads.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bartviz.analysis.intervals import Doubles, Whole, chance, student

BLOCK = 32  # texts that stand next to each other
LEAST_BLOCKS = 32  # next to another one, below which their differences say little
ALIKE = 1.2  # times as wide as of independent texts: less happens by chance


def blocks(known: NDArray[np.bool_], filled: Doubles, texts: Whole) -> Doubles:
    """(5, C) of values (N, C), 0 where they are not known, of texts by their places (N,) in ascending order: how many
    blocks there are, how many of them follow another one, and of the changes of their counts dn and totals dt from one
    to the next the sums of dn², dn dt and dt². Those of two parts of a corpus add up.
    """
    if not len(texts):
        return np.zeros((5, filled.shape[1]))
    first = np.flatnonzero(np.diff(texts // BLOCK, prepend=texts[0] // BLOCK - 1))  # the first text of each block
    n = np.diff(np.add.reduceat(known.astype(np.float64), first, axis=0), axis=0)  # (B - 1, C)
    t = np.diff(np.add.reduceat(filled, first, axis=0), axis=0)
    ones = np.ones(filled.shape[1])
    return np.stack(
        [len(first) * ones, len(n) * ones, *((one * two).sum(axis=0) for one, two in ((n, n), (n, t), (t, t)))]
    )


@dataclass(frozen=True, eq=False)
class Means:
    """Of C columns: ``n`` values, their ``mean`` and standard deviation ``sd`` (of n - 1; NaN for fewer than two), and
    the sums of their ``blocks`` (5, C), or 0 where the texts are taken for independent."""

    n: Whole
    mean: Doubles
    sd: Doubles
    blocks: Doubles

    @classmethod
    def of(cls, values: Doubles, texts: Whole | None = None) -> Means:
        """From values (N, C), NaN where there is none, of texts by their places (N,) in ascending order; by default
        those of independent texts.

        >>> found = Means.of(np.array([[1.0], [2.0], [4.0]]))
        >>> found.mean.round(3).tolist(), found.error.round(3).tolist(), found.two_sided.round(3).tolist()
        ([2.333], [0.882], [0.118])
        """
        known = np.isfinite(values)
        n, filled = known.sum(axis=0), np.where(known, values, 0.0)
        mean = np.where(n > 0, filled.sum(axis=0) / np.maximum(n, 1), np.nan)
        squares = np.where(known, (values - mean) ** 2, 0.0).sum(axis=0)
        sd = np.where(n > 1, np.sqrt(squares / np.maximum(n - 1, 1)), np.nan)
        return cls(n, mean, sd, np.zeros((5, len(n))) if texts is None else blocks(known, filled, texts))

    @cached_property
    def _enlarged(self) -> tuple[Doubles, Doubles, Doubles]:
        """(C,) how many times as large the standard error is, its degrees of freedom, and how many times as wide both
        make the interval: 1 where blocks do not differ by more than those of independent texts do, or are fewer.

        By the differences of neighbouring blocks (von Neumann 1941): a trend, as where independent texts are sorted by
        their length, is no dependence, and is left out.
        """
        number, pairs, counts, both, totals = self.blocks
        variance, mean = self.sd**2, self.mean
        enough = (pairs >= LEAST_BLOCKS) & (variance * (self.n - 1) > 1e-12 * self.n * mean**2)
        number, pairs, n = (np.where(enough, of, 3.0) for of in (number, pairs, self.n))
        between = np.where(enough, totals - 2 * mean * both + mean**2 * counts, 1.0)
        ratio = between / (2 * pairs) * number / np.where(enough, variance * n, 1.0)
        free = np.floor(2 * pairs**2 / (3 * pairs - 1))  # of such a variance
        times = np.sqrt(np.maximum(ratio, 0.0))
        wider = student(free + 1) / student(n) * times
        alike = enough & (wider > 1)
        return np.where(alike, times, 1.0), np.where(alike, free, self.n - 1.0), np.where(alike, wider, 1.0)

    @property
    def wider(self) -> Doubles:
        """(C,) how many times as wide an interval is as that of independent texts; at least 1."""
        return self._enlarged[2]

    @property
    def spread(self) -> Doubles:
        """(C,) the standard deviation that independent texts would have for an interval as wide (``intervals``)."""
        return self.sd * self.wider

    @property
    def error(self) -> Doubles:
        """(C,) the standard error of the mean."""
        return self.sd * self._enlarged[0] / np.sqrt(np.maximum(self.n, 1))

    @property
    def free(self) -> Doubles:
        """(C,) the degrees of freedom of ``error``; NaN for fewer than two values."""
        return np.where(self.n > 1, self._enlarged[1], np.nan)

    @property
    def ends(self) -> tuple[Doubles, Doubles]:
        """(C,) each: the 95% interval of the mean by Student's t."""
        half = student(self.n) * self.spread / np.sqrt(np.maximum(self.n, 1))
        return self.mean - half, self.mean + half

    @property
    def t(self) -> Doubles:
        """(C,) the mean in standard errors; 0 for a mean of 0, and infinite where all values are the same other one."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(self.mean == 0, 0.0, self.mean / self.error)

    @property
    def two_sided(self) -> Doubles:
        """(C,) the probability of a mean as far from 0 if that of all texts is 0; NaN for fewer than two values."""
        return chance(self.t, self.free)

    @property
    def above(self) -> Doubles:
        """(C,) the probability of a mean as high if that of all texts is 0 or below; NaN for fewer than two values.
        Equal values are no luck: 0 above 0, and 1 otherwise."""
        tail = self.two_sided / 2
        found = np.where(self.t > 0, tail, 1 - tail)
        return np.where((self.error == 0) & (self.mean <= 0), 1.0, found)


def alike(wider: Doubles) -> float:
    """How many times as wide intervals became in the median, because neighbouring texts are alike; 1 where it is less
    than chance makes it."""
    times = float(np.median(wider)) if len(wider) else 1.0
    return times if times >= ALIKE else 1.0
