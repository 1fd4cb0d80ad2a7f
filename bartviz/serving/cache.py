"""A cache bounded in bytes that makes each value only once, however many threads request it at the same time."""

from __future__ import annotations

import hashlib
import json
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Generic, TypeVar

from bartviz.callbacks import never
from bartviz.errors import Cancelled
from bartviz.language import later

T = TypeVar("T")
_TICK = 0.05  # seconds between checks of ``cancelled``


def content_key(*parts: object) -> str:
    """One key for everything a result depends on: model fingerprint, text, options. Equal parts give equal keys.

    The parts are JSON values (numbers, texts, None, lists and dictionaries of them); raises TypeError for others.
    """
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()


class ByteCache(Generic[T]):
    """Values by key, least recently used evicted first, never more than ``limit`` bytes in total.

    An evicted value still counts while somebody else holds it, and can be found again meanwhile: what visitors look at
    displaces what nobody uses. (A tuple or a string has no weak references; it counts only while it is kept.)
    ``full`` is called after an eviction for lack of room, with no lock held.

    Thread-safe. ``make`` runs outside the lock and once per key at a time; other callers wait for it. If it raises, its
    caller gets the error and one of the waiting callers tries again. A value larger than the limit is returned but not
    kept. Values are shared: they must be read-only.
    """

    def __init__(self, limit: int, full: Callable[[], None] = lambda: None) -> None:
        self.limit = limit
        self._full = full
        self._lock = threading.Lock()
        self._values: OrderedDict[str, tuple[T, int]] = OrderedDict()
        self._held: dict[str, tuple[weakref.ref[Any], int]] = {}  # evicted, but still referenced elsewhere
        self._making: dict[str, threading.Event] = {}
        self._bytes = 0

    @property
    def bytes(self) -> int:
        """Bytes of all values that are kept here, or still held by a caller."""
        held = list(self._held.values())
        return self._bytes + sum(size for value, size in held if value() is not None)

    def __len__(self) -> int:
        return len(self._values)

    def peek(self, key: str) -> T | None:
        """The value if it is cached, without making it."""
        with self._lock:
            return self._find(key)

    def get(
        self,
        key: str,
        make: Callable[[], T],
        size: Callable[[T], int],
        *,
        cancelled: Callable[[], bool] = never,
        meanwhile: Callable[[], None] = lambda: None,
    ) -> T:
        """The value of ``key``, made by ``make`` if it is missing; ``size`` gives its bytes.

        ``cancelled`` is checked while waiting for another caller's ``make``; raises Cancelled if it is true.
        ``meanwhile`` is called again and again in that time.
        """
        while True:
            with self._lock:
                cached = self._find(key)
                if cached is not None:
                    return cached
                in_progress = self._making.get(key)
                if in_progress is None:
                    made = self._making[key] = threading.Event()
                    break
            while not in_progress.wait(_TICK):
                if cancelled():
                    raise Cancelled(later("The run was stopped."))
                meanwhile()
        try:
            value = make()
            if self._keep(key, value, size(value)):
                self._full()
            return value
        finally:
            with self._lock:
                del self._making[key]
            made.set()

    def count(self, value: T, size: int) -> None:
        """Count a value made elsewhere for as long as it is alive; repeated calls count it once."""
        with self._lock:
            self._held[f"counted {id(value)}"] = weakref.ref(value), size
            full = self._make_room()
        if full:
            self._full()

    def discard(self, key: str) -> None:
        """Drop one value, if it is cached."""
        with self._lock:
            _, freed = self._values.pop(key, (None, 0))
            self._bytes -= freed
            self._held.pop(key, None)

    def evict(self) -> bool:
        """Drop the least recently used value; False if there is none."""
        with self._lock:
            if not self._values:
                return False
            _, (_, freed) = self._values.popitem(last=False)
            self._bytes -= freed
            return True

    def _find(self, key: str) -> T | None:
        if key in self._held:
            value: T | None = self._held[key][0]()
            if value is None:
                return None
            size = self._held.pop(key)[1]
            self._values[key] = (value, size)
            self._bytes += size
        if key not in self._values:
            return None
        self._values.move_to_end(key)
        return self._values[key][0]

    def _keep(self, key: str, value: T, size: int) -> bool:
        """Keep a value; whether another had to be evicted for it."""
        with self._lock:
            if size > self.limit:
                self._watch(key, value, size)
                return True
            self._values[key] = (value, size)
            self._bytes += size
            return self._make_room()

    def _make_room(self) -> bool:
        """Evict the least recently used values until the rest fits; whether any was evicted. The lock is held."""
        evicted = False
        self._held = {key: held for key, held in self._held.items() if held[0]() is not None}
        while self._values and self.bytes > self.limit:
            self._let_go()
            evicted = True
        return evicted

    def _let_go(self) -> None:
        key, (value, size) = self._values.popitem(last=False)
        self._bytes -= size
        self._watch(key, value, size)

    def _watch(self, key: str, value: T, size: int) -> None:
        with suppress(TypeError):  # tuples, texts and numbers have no weak references
            self._held[key] = weakref.ref(value), size
