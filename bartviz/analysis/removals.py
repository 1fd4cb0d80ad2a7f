"""Which words are taken away, in which order, and what is measured: comprehensiveness, sufficiency, and the area
under the curve. NumPy alone.

Letters in shapes: W words, N orders of them, P places of the curve, C sets of words for each order, T explained
tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import permutations
from math import factorial
from types import MappingProxyType
from typing import Literal

import numpy as np

from bartviz.analysis.intervals import Doubles
from bartviz.arrays import Bools, Floats, Ints

Measure = Literal["comprehensiveness", "sufficiency", "area"]
MEASURES: Mapping[Measure, int] = MappingProxyType({"comprehensiveness": 1, "sufficiency": -1, "area": -1})
"""1 where the larger number is the better one."""
SHARES = (0.1, 0.2, 0.5)
"""Of the words, at least one: where comprehensiveness and sufficiency are measured."""
PLACES = 6
"""Of the curve, beyond its beginning; fewer where there are fewer words."""


def order(scores: Floats, random: np.random.Generator) -> Ints:
    """(W,) the words by their scores (W,), the largest first, equal ones at random."""
    return np.lexsort((random.random(len(scores)), -scores)).astype(np.int64)


def random_orders(words: int, count: int, random: np.random.Generator) -> Ints:
    """(N, W) random orders of the words, ``count`` of them; or, where there are no more than that, every order once."""
    if words < 20 and factorial(words) <= count:
        return np.array(list(permutations(range(words))), np.int64)
    return np.array([random.permutation(words) for _ in range(count)], np.int64)


def measured(
    orders: Ints, values_of: Callable[[Bools], Doubles], measures: Iterable[Measure] = tuple(MEASURES)
) -> dict[Measure, Doubles]:
    """Each of the measures (N, T) of orders (N, W) in which words are taken away, for T explained tokens.

    values_of: sets of words that are taken away (sets, W) -> the probabilities (sets, T) of the explained tokens
        without them, or other numbers that fall with these. It gets each set once.
    ``comprehensiveness``: how far the number falls without the first 10%, 20% and 50% of the words, in the mean;
    ``sufficiency``: how far it falls with these words alone (both: DeYoung et al. 2020, section 4.2). ``area``: the
    mean number while the words are taken away one after the other until none is left (Samek et al. 2017).

    >>> gone = measured(np.array([[0, 1], [1, 0]]), lambda sets: 1.0 - sets @ np.array([[0.75], [0.25]]))
    >>> gone["comprehensiveness"][:, 0], gone["sufficiency"][:, 0], gone["area"][:, 0]
    (array([0.75, 0.25]), array([0.25, 0.75]), array([0.375, 0.625]))
    """
    words, chosen = orders.shape[1], tuple(measures)
    firsts = [0, *(max(1, round(share * words)) for share in SHARES)]
    curve = np.unique(np.ceil(np.linspace(0, words, min(words, PLACES) + 1)).astype(np.int64)).tolist()
    places = np.argsort(orders, axis=1)[:, None, :]  # (N, 1, W) of each word in each order
    gone: dict[Measure, Bools] = {}  # (N, C, W)
    if "comprehensiveness" in chosen:
        gone["comprehensiveness"] = places < np.array(firsts)[:, None]
    if "sufficiency" in chosen:
        gone["sufficiency"] = places >= np.array([words, *firsts[1:]])[:, None]
    if "area" in chosen:
        gone["area"] = places < np.array(curve)[:, None]
    distinct, which = np.unique(
        np.concatenate([*gone.values()], axis=1).reshape(-1, words), axis=0, return_inverse=True
    )
    ends = np.cumsum([sets.shape[1] for sets in gone.values()])[:-1]
    values = np.split(values_of(distinct)[which.reshape(len(orders), -1)], ends, axis=1)  # (N, C, T) each
    widths = (np.diff(curve) / words)[:, None]
    return {
        measure: ((some[:, 1:] + some[:, :-1]) / 2 * widths).sum(axis=1)
        if measure == "area"
        else some[:, 0] - some[:, 1:].mean(axis=1)
        for measure, some in zip(gone, values, strict=True)
    }
