"""How much of a text each kind of attention sees."""

from __future__ import annotations

import numpy as np

from bartviz.arrays import Bools
from bartviz.record.attention import Attention


def seen(attention: Attention) -> tuple[int, int]:
    """How many cells of an attention are open, and how many there are."""
    return int(attention.mask.sum()), attention.mask.size


def shrunk(mask: Bools, most: int) -> Bools:
    """A mask of at most ``most`` cells along a side: a block of cells is open where any of it is."""
    for axis in (0, 1):
        step = -(-mask.shape[axis] // most)
        mask = np.logical_or.reduceat(mask, np.arange(0, mask.shape[axis], step), axis=axis)
    return mask
