"""What is read once per process is one object, also for those who ask for it at the same moment."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cache
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class read_once(Generic[T]):  # noqa: N801
    """``functools.cache``, but a second thread waits for the first instead of making another object of its own.

    Pages keep what belongs to a record by the record itself: with two of them a visitor's choices would end.
    """

    def __init__(self, make: Callable[..., T]) -> None:
        self._make, self._lock = cache(make), Lock()
        self.__doc__ = make.__doc__

    def __call__(self, *names: Hashable) -> T:
        with self._lock:
            return self._make(*names)

    def cache_clear(self) -> None:
        """Forget what was read."""
        self._make.cache_clear()
