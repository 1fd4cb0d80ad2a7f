"""What temperature and top-p make of the probabilities of a record's steps.

At temperature t the logits are divided by t, so a token of probability p gets p ** (1 / t), divided by the sum of these
over the vocabulary. That sum is all that a step's few candidates need to be exact at every temperature: it is computed
once, for the temperatures of a scale. The same goes for top-p, which keeps the fewest tokens that have a share.

Letters in shapes: T steps, G temperatures, P shares of top-p.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bartviz.arrays import Floats

TEMPERATURES = tuple(round(0.1 * number, 1) for number in range(1, 21))
SHARES = (0.95, 0.9, 0.8, 0.5)


@dataclass(frozen=True, eq=False)
class Temperatures:
    """sums (T, G): of p ** (1 / t) over the vocabulary. For top-p: mass (T, G, P), what the kept tokens have together,
    least (T, G, P), the smallest probability among them, count (T, G, P), how many they are."""

    sums: NDArray[np.float64]
    mass: NDArray[np.float64]
    least: NDArray[np.float64]
    count: NDArray[np.float64]

    @property
    def nbytes(self) -> int:
        """Bytes held by the arrays."""
        return sum(part.nbytes for part in (self.sums, self.mass, self.least, self.count))

    @property
    def table(self) -> Floats:
        """(T, G, 1 + 3 P) float32: the sum, then mass, least and count of each share."""
        flat = np.concatenate([self.sums[..., None], self.mass, self.least, self.count], axis=2)
        return flat.astype(np.float32)


def at(probability: float, temperature: float, total: float) -> float:
    """The probability of a token at a temperature; ``total`` is the sum of that temperature."""
    return float(probability ** (1 / temperature) / total)
