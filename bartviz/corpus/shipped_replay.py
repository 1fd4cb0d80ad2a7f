"""The training that ships, moment by moment: which heads of its cross-attention came to do what, and when.

Letters in shapes: T moments, L layers, H heads. Needs NumPy alone.
"""

from __future__ import annotations

from functools import cache
from statistics import median

import numpy as np

from bartviz.arrays import Floats
from bartviz.corpus.replay import SHIPPED, Replay, open_replay

ALIGNS, COPIES = "alignment", "same"  # measures: weight on pairs that choose each other, and on the same token
Place = tuple[int, int]  # layer and head


@cache
def replay() -> Replay:
    """The training, read once per process."""
    return open_replay(SHIPPED)


def shares(measure: str) -> Floats:
    """(T, L, H) the mean of each head over the texts, at each moment."""
    place = replay().about["kinds"]["cross"]["measures"].index(measure)
    return (replay().curves["cross"][..., place, 0] / 255).astype(np.float32)


def points(measure: str) -> dict[Place, tuple[float, float, float]]:
    """By head: the step where it passes half of its way, and the 95% interval. Heads that change little have none."""
    return {
        (layer, head): (step, low, high)
        for kind, layer, head, of, step, low, high in replay().about["points"]
        if kind == "cross" and of == measure
    }


def passed(measure: str) -> int:
    """The median of these steps."""
    return round(median(step for step, *_ in points(measure).values()))


def translated() -> tuple[int, float]:
    """The step of the first moment with at least half of the last BLEU, and the last BLEU."""
    curve = replay().about["curves"]["BLEU"]
    last = float(curve[-1][1])
    return next(int(step) for step, value in curve if value >= last / 2), last
