"""The output of the fast kernel for some heads and rows, against which an attention is checked. NumPy only.

Letters in shapes: L layers, C sampled heads, R sampled rows, K keys, d head width.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bartviz.arrays import Floats, Ints, Rebuilt, frozen, same


@dataclass(frozen=True)
class Sample(Rebuilt):
    """The fast kernel's output for C heads and R rows of each layer, against which the weights can be checked.

    heads (L, C) and rows (L, R): their indices; output (L, C, R, d): the weighted sum of the values, before any head
    was scaled; v (L, C, K, d): the heads' values, None if the attention holds them all.
    """

    heads: Ints
    rows: Ints
    output: Floats
    v: Floats | None = None

    def __post_init__(self) -> None:
        for name, dtype in (("heads", np.int64), ("rows", np.int64), ("output", np.float32), ("v", np.float32)):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, frozen(getattr(self, name), dtype))

    @property
    def compared(self) -> tuple[int, int]:
        """How many heads and rows can be checked in each layer: different ones, in the layer that has the fewest."""
        heads, rows = (min(len(np.unique(layer)) for layer in indices) for indices in (self.heads, self.rows))
        return heads, rows

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sample) and same(self, other)

    __hash__ = None  # type: ignore[assignment]  # arrays inside
