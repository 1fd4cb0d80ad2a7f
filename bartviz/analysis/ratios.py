"""The 95% interval of a ratio of two sums over texts, such as weight over what even attention would give."""

from __future__ import annotations

import numpy as np

from bartviz.analysis.intervals import Doubles, student


def of_ratios(
    total: Doubles, squares: Doubles, products: Doubles, base: Doubles, base_squares: Doubles
) -> tuple[Doubles, Doubles, Doubles]:
    """The ratio Σx / Σy over texts and the ends of its interval, arrays of one shape; NaN without a base, the ends NaN
    where a single text makes up the base, or the total is 0.

    total, squares, products: Σx, Σx² and Σxy; base, base_squares: Σy and Σy², with y > 0.
    Texts are drawn as a whole, long and short ones, so both sums vary: the variance of the ratio R is that of x - R y
    (Cochran 1977, 2.11). The interval is symmetric in the logarithm, with Student's t. Texts with a large y count for
    more, so they are as good as m = (Σy)² / Σy² equal ones (Kish 1965), and the error is widened by m / (m - 1), about
    what leaving out each text in turn gives. ``tests/analysis/test_ratios.py`` has how often it holds the true ratio.

    >>> x, y = np.array([2.0, 4.0, 3.0]), np.array([1.0, 2.0, 2.0])
    >>> ratio, low, high = of_ratios(x.sum(), (x * x).sum(), (x * y).sum(), y.sum(), (y * y).sum())
    >>> [round(float(one), 3) for one in (ratio, low, high)]
    [1.8, 0.345, 9.38]
    """
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        ratio = np.where(base > 0, total / base, np.nan)
        rest = np.maximum(squares - 2 * ratio * products + ratio**2 * base_squares, 0)
        texts = np.where(base > 0, base**2 / base_squares, 1.0)
        error = np.sqrt(rest) / total * texts / (texts - 1)  # of the logarithm of the ratio
        wide = np.exp(student(np.floor(texts + 1e-3)) * error)
        return ratio, np.where(total > 0, ratio / wide, np.nan), np.where(total > 0, ratio * wide, np.nan)
