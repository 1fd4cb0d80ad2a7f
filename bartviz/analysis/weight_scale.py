"""The scales of colours: a weight from 0 to 1, its share of the row's largest weight, or its power of ten."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from bartviz.arrays import Floats

Range = Literal["fixed", "row", "log"]
RANGES: tuple[Range, ...] = get_args(Range)
LOG_FLOOR = 1e-4  # where the powers of ten end


def shares(weights: Floats, span: Range) -> Floats:
    """(..., Q, K) in 0..1, the position of each weight on the colour scale; NaN stays NaN.

    "fixed": the weight itself; "row": divided by the largest of its row; "log": 0.0001 and less is 0, each ten times
    more is a quarter.
    """
    if span == "fixed":
        return weights
    if span == "row":
        largest = np.fmax.reduce(weights, axis=-1, keepdims=True)  # (..., Q, 1), NaN where all is masked
        return np.asarray(weights / np.fmax(largest, np.float32(1e-30)), np.float32)
    powers = np.log10(np.maximum(weights, LOG_FLOOR)) / -np.log10(LOG_FLOOR)
    return np.asarray(powers + 1, np.float32)
