"""Chunks of examples made by other processes before they are asked for: a fast device need not wait for its data."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import count, islice
from typing import Protocol

from training.batches import Example

DEPTH = 3  # chunks that each process may be ahead


class Chunks(Protocol):
    """Makes chunks that depend on their number alone, and on the share of the run at which they are used."""

    def chunk(self, index: int, share: float) -> Sequence[Example]: ...


_own: list[Chunks] = []  # of this process, one of several


def chunks(
    make: Callable[[], Chunks], first: int, share: Callable[[int], float], processes: int
) -> Iterator[Sequence[Example]]:
    """Endless chunks from the number `first` on, in order; with no processes made here, as they are asked for.

    Every process makes its own `Chunks`: sent along, a corpus would be read by one new process after another.
    """
    numbers = count(first)
    if processes == 0:
        made = make()
        yield from (made.chunk(index, share(index)) for index in numbers)
    # A process that is forked from one with threads can wait forever for a lock that one of them held.
    with multiprocessing.get_context("spawn").Pool(processes, _keep, (make,)) as pool:
        ahead = list(islice(numbers, processes * DEPTH))
        asked = deque(pool.apply_async(_chunk, (index, share(index))) for index in ahead)
        while True:
            index = next(numbers)
            asked.append(pool.apply_async(_chunk, (index, share(index))))
            yield asked.popleft().get()


def _keep(make: Callable[[], Chunks]) -> None:
    _own[:] = [make()]


def _chunk(index: int, share: float) -> Sequence[Example]:
    return _own[0].chunk(index, share)
