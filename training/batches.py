"""Batches of about the same number of tokens, of texts of about the same length."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
from numpy.random import Generator
from numpy.typing import NDArray
from torch import Tensor

Example = tuple[list[int], ...]  # token ids: (source, target), or what the task needs


def by_length(examples: Sequence[Example], tokens: int, rng: Generator) -> list[list[Example]]:
    """Cut `examples`, sorted by length, into batches of at most `tokens` tokens, padding counted, in random order."""
    order = sorted(examples, key=lambda e: (len(e[-1]), len(e[0])))
    batches: list[list[Example]] = []
    batch: list[Example] = []
    widths = [0] * (len(order[0]) if order else 0)
    for example in order:
        wider = [max(w, len(part)) for w, part in zip(widths, example, strict=True)]
        if batch and sum(wider) * (len(batch) + 1) > tokens:
            batches.append(batch)
            batch, wider = [], [len(part) for part in example]
        batch.append(example)
        widths = wider
    if batch:
        batches.append(batch)
    return [batches[int(i)] for i in rng.permutation(len(batches))]


def forever(chunk: Callable[[Generator], Sequence[Example]], tokens: int, rng: Generator) -> Iterator[list[Example]]:
    """Endless batches, drawn a chunk of examples at a time."""
    while True:
        yield from by_length(chunk(rng), tokens, rng)


def pad(rows: Sequence[Sequence[int]], fill: int, device: torch.device | str = "cpu") -> Tensor:
    """Rows of different lengths as one (B, longest) tensor of int64."""
    width = max(map(len, rows))
    return torch.tensor([[*row, *[fill] * (width - len(row))] for row in rows], device=device)


class Deck:
    """Draws from `items` in random order, each once before any comes again; `position` says how many were drawn."""

    def __init__(self, items: Sequence[object], rng: Generator) -> None:
        self.count, self.position = len(items), 0
        self._seed = int(rng.integers(2**63))
        self._turn, self._order = -1, np.arange(0)

    def draw(self, count: int) -> list[int]:
        """Indexes of the next `count` items."""
        drawn: list[int] = []
        while len(drawn) < count:
            turn, begin = divmod(self.position, self.count)
            part = self._ordered(turn)[begin : begin + count - len(drawn)].tolist()
            drawn += part
            self.position += len(part)
        return drawn

    def _ordered(self, turn: int) -> NDArray[np.int64]:
        """The order of a turn, the same whenever it is asked for."""
        if turn != self._turn:
            self._turn, self._order = turn, np.random.default_rng([self._seed, turn]).permutation(self.count)
        return self._order
