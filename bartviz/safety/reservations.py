"""Bounded memory: reserved before it is allocated, counted until it is freed, and returned to the system."""

from __future__ import annotations

import ctypes
import errno
import gc
import threading
import time
import weakref
from collections.abc import Callable
from functools import cache
from types import TracebackType

TICK = 0.05  # seconds between checks for room
_COLLECT = 1.0  # seconds between garbage collections while a claim waits
_OUT_OF_MEMORY = (
    "allocate memory",
    "out of memory",
    "failed to map segment",
    "bad_alloc",
    "can't start new thread",
)  # messages of torch, the linker, ...


class Claim:
    """The bytes of one object: reserved while it is being made, in use while it is alive, free afterwards.

    A ``with`` block that ends without ``become`` releases them.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._thing: weakref.ref[object] | None = None

    @property
    def bytes(self) -> int:
        if self._thing is not None and self._thing() is None:
            self._size = 0
        return self._size

    def become(self, thing: object, size: int) -> None:
        """From now on the bytes belong to ``thing`` for as long as it is alive."""
        self._thing, self._size = weakref.ref(thing), size

    def __enter__(self) -> Claim:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._thing is None:
            self._size = 0


Claims = Callable[[int, Callable[[], None]], Claim]
"""The type of ``MemoryBudget.claim``: the number of bytes, and a check that is called while waiting for them."""


def unbounded(size: int, check: Callable[[], None]) -> Claim:
    """A claim without any limit."""
    return Claim(size)


class MemoryBudget:
    """At most ``limit`` bytes at a time, first come, first served.

    ``evict`` drops the least recently used object and returns whether there was one. An evicted object counts until its
    last user releases it.
    """

    def __init__(self, limit: int, evict: Callable[[], bool]) -> None:
        self.limit = limit
        self._evict = evict
        self._lock = threading.Lock()
        self._line: list[Claim] = []
        self._given: list[Claim] = []

    @property
    def bytes(self) -> int:
        """Bytes of objects that are alive or being made."""
        return sum(claim.bytes for claim in list(self._given))

    def claim(
        self, size: int, check: Callable[[], None] = lambda: None, waits: Callable[[], None] = lambda: None
    ) -> Claim:
        """Wait until ``size`` bytes fit. A size above the limit claims everything: callers reject it beforehand.

        ``check`` is called repeatedly while waiting and may raise to end the wait; ``waits`` is called once if there is
        one.
        """
        claim = Claim(min(size, self.limit))
        with self._lock:
            self._line.append(claim)
        try:
            if not self._fits(claim):
                waits()
                self._wait(claim, check)
            self._given.append(claim)
        finally:
            with self._lock:
                self._line.remove(claim)
        return claim

    def _wait(self, claim: Claim, check: Callable[[], None]) -> None:
        collected = 0.0
        while not self._fits(claim):
            check()
            if self._line[0] is claim and time.monotonic() - collected > _COLLECT:
                gc.collect()  # an evicted object may be in a reference cycle
                collected = time.monotonic()
            time.sleep(TICK)

    def _fits(self, claim: Claim) -> bool:
        if self._line[0] is not claim:
            return False
        self._given = [other for other in self._given if other.bytes]
        while self.bytes + claim.bytes > self.limit and self._evict():
            pass
        if self.bytes + claim.bytes > self.limit:
            return False
        give_back()
        return True


def give_back() -> None:
    """Return freed memory to the system, which glibc would otherwise keep; takes milliseconds."""
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], int] | None:
    try:
        trim: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):  # another C library, another system
        return None
    return trim


def was_short(error: BaseException) -> bool:
    """Whether an error of any type was caused by a lack of memory."""
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return True
    return isinstance(error, OSError | ImportError | RuntimeError) and any(
        phrase in str(error) for phrase in _OUT_OF_MEMORY
    )
