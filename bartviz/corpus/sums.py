"""Sums over texts that add up: those of two parts of a corpus merged are those of the whole.

Letters in shapes: N texts, L layers, H heads, M measures, C = L H M cells of one kind, E examples, J bins.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from bartviz.analysis import means
from bartviz.analysis.corpus_measures import measure_of
from bartviz.analysis.means import Means
from bartviz.arrays import Floats
from bartviz.record.attention import Kind

EXAMPLES = 3  # of the highest, and of the lowest values
DRAWN = 12  # texts that are drawn at random, the same for every cell where they have a value
BINS = 20
# Of a bin; the last has all that is above, and the first of a measure that may be below 0 all that is below.
_WIDTHS = {"entropy": 0.5, "distance": 1.0, "first_value": 0.1, "label_log_probability": 0.1, "label_margin": 0.2}
_NOWHERE = np.iinfo(np.int64).max

Doubles = NDArray[np.float64]
Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Bins:
    """The bins of a histogram: where the first begins, and how wide each is. The first has all values below, too, and
    the last all above."""

    start: float
    width: float

    @classmethod
    def around(cls, values: Floats) -> Bins:
        """Bins about some values of a measure of one's own, at round numbers; those of shares where they may be such.

        >>> Bins.around(np.array([0.2, 0.7])), Bins.around(np.array([-3.0, 12.0]))
        (Bins(start=0.0, width=0.05), Bins(start=-5.0, width=1.0))
        """
        known = values[np.isfinite(values)].astype(np.float64)
        low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
        if low >= 0 and high <= 1:
            return cls(0.0, 1 / BINS)
        span = high - low or max(abs(high), 1.0)
        power = 10.0 ** math.floor(math.log10(span * 1.2 / BINS))
        width = next(step * power for step in (1, 2, 5, 10) if step * power * BINS >= span * 1.2)
        start = math.floor((low - 0.1 * span) / width) * width
        return cls(round(max(start, 0.0) if low >= 0 else start, 12), round(width, 12))


def bins_of(measure: str, own: Mapping[str, Bins] = MappingProxyType({})) -> Bins:
    """The bins of a measure's histogram: from 0, or with 0 in the middle for one that may be below it; ``own`` has
    those of measures of one's own."""
    width = _WIDTHS.get(measure, 1 / BINS)
    return own.get(measure) or Bins(0.0 if measure_of(measure).lowest == 0 else -width * BINS / 2, width)


def lots(texts: Whole) -> NDArray[np.uint64]:
    """A number for each text, as good as random but always the same (splitmix64: Steele et al. 2014, figure 17), so
    that the texts with the lowest ones are a random sample, however a corpus is divided."""
    mixed = texts.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


@dataclass(frozen=True, eq=False)
class Examples:
    """E texts of each cell: values (E, C), NaN where there are fewer, and the numbers of their texts (E, C)."""

    values: Doubles
    texts: Whole

    @classmethod
    def highest(cls, values: Doubles, texts: Whole) -> Examples:
        """The highest of values (N, C), NaN left out, of texts (N, C). Of equal values the earliest texts."""
        return cls._first(values, texts, np.where(np.isnan(values), np.inf, -values), EXAMPLES)

    @classmethod
    def highest_of_many(cls, values: Doubles, texts: Whole) -> Examples:
        """The same for many texts (N,), sorted: one pass over the values for each example."""
        left = np.where(np.isnan(values), -np.inf, values)
        cells, found, named = np.arange(values.shape[1]), [], []
        for _ in range(min(EXAMPLES, len(left))):
            best = left.argmax(axis=0)  # (C,) of equal values the first
            found.append(np.where(left[best, cells] == -np.inf, np.nan, left[best, cells]))
            named.append(texts[best])
            left[best, cells] = -np.inf
        return cls.highest(np.stack(found), np.stack(named))

    @classmethod
    def drawn(cls, values: Doubles, texts: Whole) -> Examples:
        """Texts (N, C) with a value, drawn at random, in the order of their lots."""
        order = np.where(np.isnan(values), np.iinfo(np.uint64).max, lots(texts))
        return cls._first(values, texts, order, DRAWN)

    @classmethod
    def drawn_of_many(cls, values: Doubles, texts: Whole) -> Examples:
        """The same for many texts (N,): each lot is looked at once."""
        order = np.argsort(lots(texts), kind="stable")
        known = np.isfinite(values[order])  # (N, C)
        place = known.cumsum(axis=0, dtype=np.int32) - 1
        row, cell = np.nonzero(known & (place < DRAWN))
        found = np.full((DRAWN, values.shape[1]), np.nan)
        named = np.full(found.shape, _NOWHERE)
        found[place[row, cell], cell] = values[order[row], cell]
        named[place[row, cell], cell] = texts[order[row]]
        return cls(found, named)

    @classmethod
    def _first(cls, values: Doubles, texts: Whole, order: NDArray[np.float64 | np.uint64], count: int) -> Examples:
        ranked = np.lexsort((texts, order), axis=0)[:count]
        found, named = np.take_along_axis(values, ranked, 0), np.take_along_axis(texts, ranked, 0)
        missing = count - len(found)
        found = np.pad(found, ((0, missing), (0, 0)), constant_values=np.nan)
        named = np.pad(named, ((0, missing), (0, 0)), constant_values=_NOWHERE)
        return cls(found, np.where(np.isnan(found), _NOWHERE, named))

    def with_(self, other: Examples) -> tuple[Doubles, Whole]:
        """The values and texts of both, one below the other."""
        return np.concatenate([self.values, other.values]), np.concatenate([self.texts, other.texts])


@dataclass(frozen=True, eq=False)
class Partial:
    """The sums of one kind over some texts.

    ``count``, ``total`` and ``squares`` (C,) of the values that are defined; ``histogram`` (C, J); ``even_count`` and
    ``even_total`` (M,) of even attention; the ``highest`` and the ``lowest`` values (negated) with their texts, and
    texts that are ``drawn`` at random; the sums of ``blocks`` (5, C) of neighbouring rows (``means.blocks``).
    """

    kind: Kind
    shape: tuple[int, int]
    names: tuple[str, ...]
    count: Whole
    total: Doubles
    squares: Doubles
    histogram: Whole
    even_count: Whole
    even_total: Doubles
    highest: Examples
    lowest: Examples
    drawn: Examples
    blocks: Doubles

    @classmethod
    def of(
        cls,
        kind: Kind,
        names: tuple[str, ...],
        values: Floats,
        even: Floats,
        texts: Whole,
        own: Mapping[str, Bins] = MappingProxyType({}),
    ) -> Partial:
        """The sums of values (N, L, H, M), NaN where undefined, of texts (N,) in ascending order, and even (N, M);
        ``own``: the bins of measures of one's own."""
        flat = values.reshape(len(values), -1).astype(np.float64)  # (N, C)
        known = np.isfinite(flat)
        filled = np.where(known, flat, 0.0)
        of_names = [bins_of(name, own) for name in names]
        starts, widths = (
            np.tile([getattr(one, of) for one in of_names], values.shape[1] * values.shape[2])
            for of in ("start", "width")
        )  # (C,)
        bins = np.clip((filled - starts) / widths, 0, BINS - 1).astype(np.int64) + np.arange(flat.shape[1]) * BINS
        histogram = np.bincount(bins[known], minlength=flat.shape[1] * BINS).reshape(-1, BINS)
        flat[~known] = np.nan
        return cls(
            kind,
            (values.shape[1], values.shape[2]),
            names,
            known.sum(axis=0),
            filled.sum(axis=0),
            (filled**2).sum(axis=0),
            histogram,
            np.isfinite(even).sum(axis=0),
            np.nansum(even, axis=0, dtype=np.float64),
            Examples.highest_of_many(flat, texts),
            Examples.highest_of_many(-flat, texts),
            Examples.drawn_of_many(flat, texts),
            means.blocks(known, filled, texts),
        )

    @cached_property
    def means(self) -> Means:
        """(C,) the means, their spread, and what alike neighbours make of it."""
        n, missing = self.count.astype(np.float64), np.full(len(self.count), np.nan)
        mean = np.divide(self.total, n, out=missing.copy(), where=n > 0)
        spread = np.maximum(self.squares - n * np.nan_to_num(mean) ** 2, 0)
        sd = np.sqrt(np.divide(spread, n - 1, out=missing, where=n > 1))
        return Means(self.count, mean, sd, self.blocks)

    def merge(self, other: Partial) -> Partial:
        """The sums over the texts of both, which must not share one."""
        assert (self.kind, self.shape, self.names) == (other.kind, other.shape, other.names)
        return Partial(
            self.kind,
            self.shape,
            self.names,
            self.count + other.count,
            self.total + other.total,
            self.squares + other.squares,
            self.histogram + other.histogram,
            self.even_count + other.even_count,
            self.even_total + other.even_total,
            Examples.highest(*self.highest.with_(other.highest)),
            Examples.highest(*self.lowest.with_(other.lowest)),
            Examples.drawn(*self.drawn.with_(other.drawn)),
            self.blocks + other.blocks,
        )


def merged(parts: Sequence[Mapping[Kind, Partial]]) -> dict[Kind, Partial]:
    """The sums over all parts; empty without any."""
    sums: dict[Kind, Partial] = {}
    for part in parts:
        sums |= {kind: sums[kind].merge(found) if kind in sums else found for kind, found in part.items()}
    return sums
