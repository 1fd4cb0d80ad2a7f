"""Memory that is bounded in bytes: claimed before it is taken, counted until it is gone, handed back to the system."""

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

TICK = 0.05  # seconds between two looks at whether there is room
_COLLECT = 1.0  # seconds between two collections while somebody waits for room
_SAID = ("allocate memory", "failed to map segment", "bad_alloc", "can't start new thread")  # by torch, the linker ...


class Claim:
    """Bytes of one thing: reserved while it is on its way, taken while it is alive, free when it is gone.

    A block that ends without ``become`` gives them back.
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
        """From now on the bytes are those of ``thing``, however long and by whomever it is held."""
        self._thing, self._size = weakref.ref(thing), size

    def __enter__(self) -> Claim:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._thing is None:
            self._size = 0


Claims = Callable[[int, Callable[[], None]], Claim]
"""A room's ``claim``, or what takes its place: how many bytes, and what is asked while there is no room."""


def unbounded(size: int, check: Callable[[], None]) -> Claim:
    """The claim of somebody who has all the memory that there is."""
    return Claim(size)


class Room:
    """At most ``limit`` bytes at a time, first come, first served.

    ``evict`` lets go of what was not used the longest, and says whether there was anything. What is evicted counts
    until its last user has let go of it.
    """

    def __init__(self, limit: int, evict: Callable[[], bool]) -> None:
        self.limit = limit
        self._evict = evict
        self._lock = threading.Lock()
        self._line: list[Claim] = []
        self._given: list[Claim] = []

    @property
    def bytes(self) -> int:
        """What is alive and what is on its way."""
        return sum(claim.bytes for claim in list(self._given))

    def claim(
        self, size: int, check: Callable[[], None] = lambda: None, waits: Callable[[], None] = lambda: None
    ) -> Claim:
        """Wait until ``size`` bytes fit. A size above the limit has the whole room: who refuses it does so before.

        ``check`` is asked every moment of the wait and raises what ends it; ``waits`` is told once that there is one.
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
                gc.collect()  # what was evicted may hang in a cycle
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
    """Hand freed memory back to the system, where the C library keeps it otherwise (glibc); takes milliseconds."""
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], int] | None:
    try:
        found: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):  # another C library, another system
        return None
    return found


def was_short(error: BaseException) -> bool:
    """Whether an error came of a lack of memory, whichever type it has."""
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return True
    return isinstance(error, OSError | ImportError | RuntimeError) and any(said in str(error) for said in _SAID)
