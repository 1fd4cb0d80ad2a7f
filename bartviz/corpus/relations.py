"""How many arcs of trees each head follows, by relation, over some texts. Needs no torch."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Relations:
    """By relation: how many arcs there are of each ``distance``, in words from the word to its head, and how many of
    them each head follows (2, L, H): from the word to its head, and from the head to the word."""

    distances: Mapping[str, Counter[int]]
    followed: Mapping[str, NDArray[np.int64]]

    @classmethod
    def of(
        cls,
        names: Sequence[Sequence[str]],
        heads: NDArray[np.int64],
        counted: NDArray[np.bool_],
        found: NDArray[np.bool_],
    ) -> Relations:
        """From the relations of the words of B texts, their heads (B, W), which of them count (B, W), and which each
        head of the model follows (B, 2, L, H, W)."""
        distances: dict[str, Counter[int]] = defaultdict(Counter)
        followed: dict[str, NDArray[np.int64]] = {}
        for text, word in np.argwhere(counted).tolist():
            name = names[text][word]
            distances[name][int(heads[text, word]) - word] += 1
            followed[name] = followed.get(name, np.int64(0)) + found[text, ..., word].astype(np.int64)
        return cls(dict(distances), followed)

    def __add__(self, other: Relations) -> Relations:
        distances, followed = dict(self.distances), dict(self.followed)
        for name, counts in other.distances.items():
            distances[name] = distances.get(name, Counter()) + counts
            followed[name] = followed[name] + other.followed[name] if name in followed else other.followed[name]
        return Relations(distances, followed)
