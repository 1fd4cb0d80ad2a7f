"""When a value changes over the moments of a training, with an interval: "L1H4 begins to align at step 1,600".

The change point of a curve is the step at which it has first passed half of its whole change, from the first moment to
the last. Between two moments it is interpolated, on the scale log(1 + step), because training is fast at first. The
interval is that of a bootstrap over the texts. A resample has the same texts at every moment, so that a text that is
hard for a head moves the whole curve, not its shape.

A curve has no change point where its whole change is smaller than ``LEAST``, or where the interval of the change
includes 0. A value that comes and goes ends where it began: it has none either.

Letters in shapes: N texts, T moments, C heads (or whatever has a curve), R resamples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bartviz.analysis import intervals
from bartviz.errors import SettingError

Doubles = NDArray[np.float64]

LEAST = 0.1
"""The smallest change that counts, in the unit of the measure: a tenth of the weight, for most of them."""
RESAMPLES = 1_000
FEWEST = 10  # texts, below which a resample says little
_CELLS = 1 << 22  # floats of the resampled curves that are held at once


@dataclass(frozen=True, eq=False)
class ChangePoints:
    """Of each of C curves: the ``step`` of its change point and its 95% interval, ``low`` to ``high``; NaN where it has
    none. ``change`` from the first moment to the last and its interval; ``n`` texts; ``reason`` why there is none, else
    empty. (C,) each.
    """

    n: NDArray[np.int64]
    step: Doubles
    low: Doubles
    high: Doubles
    change: Doubles
    change_low: Doubles
    change_high: Doubles
    reason: NDArray[np.str_]


def crossing(curves: ArrayLike, steps: ArrayLike) -> Doubles:
    """The step (...) at which curves (..., T) have first passed half of their change; NaN for those that end where they
    began. ``steps`` (T,) ascend.

    >>> crossing([0.0, 0.0, 1.0, 1.0], [0, 9, 99, 999]).round(1).tolist()  # log(1 + step) half-way: 1.5 tens
    30.6
    """
    values, places = np.asarray(curves, np.float64), np.log1p(np.asarray(steps, np.float64))
    change = values[..., -1:] - values[..., :1]
    with np.errstate(divide="ignore", invalid="ignore"):
        risen = (values - values[..., :1]) / change  # (..., T) from 0 to 1
    after = np.maximum((risen >= 0.5).argmax(axis=-1), 1)  # the first moment behind it; NaN is never
    at, before = (np.take_along_axis(risen, place[..., None], axis=-1)[..., 0] for place in (after, after - 1))
    share = (0.5 - before) / (at - before)
    place = places[after - 1] + share * (places[after] - places[after - 1])
    return np.asarray(np.expm1(place))


def change_points(
    values: ArrayLike, steps: ArrayLike, *, least: float = LEAST, resamples: int = RESAMPLES, seed: int = 0
) -> ChangePoints:
    """The change points of C curves from the values of each text at each moment (T, N, C), NaN where undefined.

    steps: (T,) ascending. least: the smallest change that counts. A text counts for a head if it has a value at every
    moment. The same seed gives the same numbers. Raises SettingError for fewer than two moments.
    """
    given = np.asarray(values, np.float64)
    moments, texts, count = given.shape
    if moments < 2:
        raise SettingError("A change needs two moments: measure more checkpoints.")
    known = np.asarray(np.isfinite(given).all(axis=0))  # (N, C)
    given = np.where(known, given, 0.0)
    n = known.sum(axis=0)
    uniform = np.full(texts, 1 / texts)
    draws = np.random.default_rng(seed).multinomial(texts, uniform, resamples).astype(np.float64)  # (R, N)
    ends = np.full((4, count), np.nan)
    curves = _means(given.sum(axis=1), n)  # (T, C)
    size = max(1, _CELLS // (moments * resamples))
    for first in range(0, count, size):
        block = slice(first, first + size)
        drawn = draws @ known[:, block]  # (R, C)
        resampled = np.stack([_means(draws @ one[:, block], drawn) for one in given], axis=-1)  # (R, C, T)
        change = resampled[..., -1] - resampled[..., 0]
        places = np.log1p(crossing(resampled, steps))
        ends[:2, block] = _interval(change, curves[-1, block] - curves[0, block], n[block])
        ends[2:, block] = _interval(places, np.log1p(crossing(curves[:, block].T, steps)), n[block])
    change = curves[-1] - curves[0]
    reason = np.select(
        [n < FEWEST, ~(np.abs(change) >= least), ~(ends[0] * ends[1] > 0)],
        [f"fewer than {FEWEST} texts", f"it changes by less than {least:g}", "the interval of its change includes 0"],
        "",
    )
    last = float(np.asarray(steps, np.float64)[-1])
    found = (crossing(curves.T, steps), *np.clip(np.expm1(ends[2:]), 0, last))
    step, low, high = (np.where(reason == "", numbers, np.nan) for numbers in found)
    return ChangePoints(n, step, low, high, change, ends[0], ends[1], reason)


def _means(total: Doubles, number: NDArray[Any]) -> Doubles:
    """NaN where nothing was counted."""
    means: Doubles = np.divide(total, number, out=np.full(total.shape, np.nan), where=number > 0)
    return means


def _interval(resampled: Doubles, found: Doubles, n: NDArray[np.int64]) -> Doubles:
    """(2, C) the ends of the 95% interval from resamples (R, C), wider for few texts: resampled means of n texts spread
    less than means of other texts do."""
    counted = np.where(np.isnan(resampled).any(axis=0), 0.0, resampled)  # where a resample has none, neither has this
    ends = np.quantile(counted, (0.025, 0.975), axis=0)
    wider = intervals.student(n) / intervals.NORMAL * np.sqrt(n / np.maximum(n - 1, 1))
    return np.asarray(np.where(np.isnan(resampled).any(axis=0), np.nan, found + (ends - found) * wider))
