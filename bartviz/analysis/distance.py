"""How far two heads are from each other: the Jensen-Shannon distance of their rows, and the differences of A and B.

Letters in shapes: L layers, H heads, Q query rows, K key columns, R rows and C columns as shown.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bartviz.analysis.head_view import View
from bartviz.analysis.measures import counted, row_blocks
from bartviz.arrays import Bools, Floats
from bartviz.language import _, mark
from bartviz.record.attention import Attention

Doubles = NDArray[np.float64]
REPLACED = 1 / 3  # share of tokens that may differ between two texts whose weights are subtracted place by place


def jensen_shannon(a: NDArray[np.floating], b: NDArray[np.floating]) -> Doubles:
    """(...,) distance between rows (..., K) that each sum to 1: 0 where they are equal, 1 where they share no key.

    The square root of the Jensen-Shannon divergence to the base 2, a metric (Lin 1991; Endres and Schindelin 2003).
    Clark et al. 2019, section 6, compare heads by the same divergence.
    """
    first, second = np.asarray(a, np.float64), np.asarray(b, np.float64)
    middle = (first + second) / 2
    divergence = (_relative(first, middle) + _relative(second, middle)) / 2
    return np.asarray(np.sqrt(np.clip(divergence, 0, 1)))


def _relative(a: Doubles, middle: Doubles) -> Doubles:
    """(...,) Kullback-Leibler divergence of a from the middle, in bits; 0 log 0 is 0."""
    ratio = np.divide(a, middle, out=np.ones_like(a), where=a > 0)
    return np.asarray((a * np.log2(ratio)).sum(axis=-1))


def distances(attention: Attention, layer: int, head: int, *, rows: Bools | None = None) -> Floats:
    """(L, H) mean distance of every head from one of them, over ``rows`` (Q,), by default the ``counted`` ones.

    NaN where no row counts. Raises SettingError for a head that is not there.
    """
    attention.check(layer, head)
    taken = counted(attention) if rows is None else rows
    sums = np.zeros(attention.shape[:2], np.float64)
    for part in row_blocks(attention):
        chosen = taken[part]
        if not chosen.any():
            continue
        own = attention.row_weights(layer, part)[head][chosen]  # (b, K)
        for other in range(attention.shape[0]):
            weights = attention.row_weights(other, part)[:, chosen]  # (H, b, K)
            sums[other] += [jensen_shannon(one, own).sum() for one in weights]
    number = int(taken.sum())
    return (sums / number if number else np.full_like(sums, np.nan)).astype(np.float32)


def nearest(found: Floats, layer: int, head: int, most: int = 8) -> list[tuple[int, int, float]]:
    """(layer, head, distance) of the heads nearest to a head, nearest first, without the head itself."""
    order = np.argsort(found, axis=None, kind="stable")
    places = [tuple(map(int, np.unravel_index(place, found.shape))) for place in order]
    kept = [place for place in places if place != (layer, head) and np.isfinite(found[place])]
    return [(place[0], place[1], float(found[place])) for place in kept[:most]]


@dataclass(frozen=True, eq=False)
class Contrast:
    """B compared with A, over the same rows and columns.

    ``difference`` (R, C) is B's weight minus A's: positive where B looks more; ``distance`` (R,) the Jensen-Shannon
    distance of each row, NaN for a row without a choice; ``mean`` its mean over the rows that have one and are no
    special tokens (over all that have one, where only special tokens do). There are ``rows`` of these, and in ``alike``
    of them A and B have their largest weight in the same column; they differ most in the row ``furthest``. In ``late``
    B has it where A has it one row before, in ``early`` A where B has it; ``following`` of the rows have one before.
    """

    difference: Floats
    distance: Doubles
    mean: float
    rows: int
    alike: int
    furthest: int
    late: int
    early: int
    following: int


def contrast(a: View, b: View) -> Contrast | None:
    """How B differs from A, by place; None if too many tokens of rows or columns differ (``mismatch`` says why)."""
    if mismatch(a, b):
        return None
    rows = a.has_choice & b.has_choice
    found = np.where(rows, jensen_shannon(a.weights, b.weights), np.nan)
    plain = rows & ~a.query_special
    taken = plain if plain.any() else rows
    mean = float(found[taken].mean()) if rows.any() else float("nan")
    first, second = a.weights.argmax(axis=1), b.weights.argmax(axis=1)
    alike, after = first == second, taken[1:]
    late, early = (
        int((one[after] == other[:-1][after]).sum()) for one, other in ((second[1:], first), (first[1:], second))
    )
    furthest = int(np.where(taken, np.nan_to_num(found), -1).argmax())
    difference = np.asarray(b.weights - a.weights, np.float32)
    counts = int(taken.sum()), int(alike[taken].sum())
    return Contrast(difference, found, mean, *counts, furthest, late, early, int(after.sum()))


def limit(difference: Floats) -> float:
    """The largest difference, rounded up to a tenth: the end of its colours."""
    largest = float(np.abs(difference).max()) if difference.size else 0.0
    return max(math.ceil(largest * 10 - 1e-6) / 10, 0.1)


_OTHER_ROWS = mark(
    "A difference needs as many tokens on both sides, and A has {a:,} rows and B {b:,}: choose heads of the same kind "
    "of attention, over texts of as many tokens."
)
_OTHER_COLUMNS = mark(
    "A difference needs as many tokens on both sides, and A has {a:,} columns and B {b:,}: choose heads of the same "
    "kind of attention, over texts of as many tokens."
)
_ROWS_APART = mark(
    "A difference needs mostly the same tokens on both sides, and too many rows differ, the first at position "
    "{place}: maps and measures are shown side by side."
)
_COLUMNS_APART = mark(
    "A difference needs mostly the same tokens on both sides, and too many columns differ, the first at position "
    "{place}: maps and measures are shown side by side."
)


def mismatch(a: View, b: View) -> str:
    """One sentence: why two views cannot be subtracted; empty if they can."""
    pairs = (
        (a.query_labels, b.query_labels, _OTHER_ROWS, _ROWS_APART),
        (a.key_labels, b.key_labels, _OTHER_COLUMNS, _COLUMNS_APART),
    )
    for first, second, other, apart in pairs:
        if len(first) != len(second):
            return _(other, a=len(first), b=len(second))
        places = [i for i, labels in enumerate(zip(first, second, strict=True)) if labels[0] != labels[1]]
        if len(places) > REPLACED * len(first):
            return _(apart, place=places[0])
    return ""


def paired(first: Sequence[str], second: Sequence[str]) -> tuple[str, ...]:
    """The labels of two texts of equal length by place: "buy / sell" where they differ."""
    return tuple(one if one == other else f"{one} / {other}" for one, other in zip(first, second, strict=True))
