"""Measures of a caller's own, which other processes import by their names."""

from __future__ import annotations

import numpy as np

from bartviz.analysis.own_measures import BothTokens
from bartviz.arrays import Floats


def last_key(weights: Floats, tokens: BothTokens) -> Floats:
    """Weight on the last key, over rows that are no special token."""
    found: Floats = weights[:, ~tokens.query.special, -1].mean(axis=1)
    return found


def lean(weights: Floats, tokens: BothTokens) -> Floats:
    """How far to the right of itself a row looks, in keys: below 0 to the left."""
    rows, columns = np.arange(len(tokens.query)), np.arange(len(tokens.key))
    found: Floats = (weights * (columns - rows[:, None])).sum(axis=-1).mean(axis=1)
    return found


def everything(weights: Floats, tokens: BothTokens) -> Floats:
    """A number into which all goes that a function is given."""
    total = np.zeros(len(weights), np.float32)
    for number, side in enumerate((tokens.query, tokens.key), start=1):
        signs = sum(map(ord, "".join(side.labels)))
        words = (side.words * np.arange(len(side))).sum()
        total += number * (side.ids.sum() % 97 + signs % 89 + side.special.sum() + words)
    rows = np.arange(weights.shape[1])[:, None] + 2 * np.arange(weights.shape[2])
    result: Floats = total + (weights * tokens.mask * rows).sum(axis=(1, 2)) + tokens.mask.sum() / 10
    return result
