"""A thread-safe ``functools.cache``: concurrent callers get the same object."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cache
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class read_once(Generic[T]):  # noqa: N801
    """``functools.cache``, but a second thread waits for the first instead of making its own object.

    Pages key a visitor's choices by the record object: a second copy would reset them.
    """

    def __init__(self, make: Callable[..., T]) -> None:
        self._make, self._lock = cache(make), Lock()
        self.__doc__ = make.__doc__

    def __call__(self, *names: Hashable) -> T:
        with self._lock:
            return self._make(*names)

    def cache_clear(self) -> None:
        """Clear the cache."""
        self._make.cache_clear()
