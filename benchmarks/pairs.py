"""Two ways to do the same work, interleaved, as a ratio of process CPU time."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Ratio:
    """``value``: median over the rounds of ours / theirs; ``spread``: half the distance of the quartiles."""

    value: float
    spread: float
    ours: float  # seconds of CPU, median
    theirs: float
    rounds: int

    def __str__(self) -> str:
        return (
            f"{self.value:5.2f} +- {self.spread:.2f}   {self.ours:8.3f} s   {self.theirs:8.3f} s   {self.rounds} rounds"
        )


def paired(ours: Callable[[], object], theirs: Callable[[], object], *, seconds: float = 12.0) -> Ratio:
    """Run both in turn, each first as often as the other, at least five times and for ``seconds``, after one round."""
    ours(), theirs()
    first: list[float] = []
    second: list[float] = []
    end = time.monotonic() + seconds
    while len(first) < 5 or time.monotonic() < end:
        if len(first) % 2:
            first.append(_cpu(ours))
            second.append(_cpu(theirs))
        else:
            second.append(_cpu(theirs))
            first.append(_cpu(ours))
    ratios = [a / b for a, b in zip(first, second, strict=True)]
    quarters = statistics.quantiles(ratios, n=4)
    spread = (quarters[2] - quarters[0]) / 2
    return Ratio(statistics.median(ratios), spread, statistics.median(first), statistics.median(second), len(ratios))


def _cpu(work: Callable[[], object]) -> float:
    gc.collect()
    start = time.process_time()
    work()
    return time.process_time() - start
