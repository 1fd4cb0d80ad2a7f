"""When the tokens that are not shown one by one are seen together, although each of them is unlikely."""

from __future__ import annotations

from collections.abc import Iterable

TINY = 0.001  # a probability that is written as "<0.1%"
SEEN = 0.01  # a share that a bar shows, and a reader asks about


def add_up(shown: Iterable[float], likeliest: float) -> bool:
    """Whether the tokens besides those with the probabilities ``shown`` have a share together that is seen, although
    the ``likeliest`` of them has next to none.

    >>> add_up([0.65, 0.26], 0.0009), add_up([0.65, 0.26], 0.05), add_up([0.7, 0.299], 0.0009)
    (True, False, False)
    """
    return likeliest < TINY and 1 - sum(shown) >= SEEN
