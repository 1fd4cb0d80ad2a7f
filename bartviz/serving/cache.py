"""A store bounded in bytes, in which each value is made once however many ask for it at the same time."""

from __future__ import annotations

import hashlib
import json
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Generic, TypeVar

from bartviz.errors import Cancelled
from bartviz.language import later

T = TypeVar("T")
_TICK = 0.05  # seconds between two looks at ``cancelled``


def content_key(*parts: object) -> str:
    """One key for what an answer depends on: model fingerprint, text, options. Equal parts, equal key.

    The parts are JSON values (numbers, texts, None, lists and dictionaries of them); raises TypeError for others.
    """
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()


class ByteCache(Generic[T]):
    """Values by key, the longest unused leaving first, their sizes together never above ``limit`` bytes.

    A value that has left counts for as long as somebody else holds it, and is found again meanwhile: what visitors look
    at takes the room of what nobody does. (A tuple or a text cannot be watched so; it counts while it is kept.)
    ``full`` is called when something has left for want of room, with no lock held.

    Safe between threads. ``make`` runs outside the lock and once per key at a time: who asks meanwhile waits for it.
    When it raises, its caller gets the error and one of those who wait tries again. A value larger than the limit is
    given to its caller and not kept. Values are shared: they must be read-only.
    """

    def __init__(self, limit: int, full: Callable[[], None] = lambda: None) -> None:
        self.limit = limit
        self._full = full
        self._lock = threading.Lock()
        self._values: OrderedDict[str, tuple[T, int]] = OrderedDict()
        self._held: dict[str, tuple[weakref.ref[Any], int]] = {}  # by others, no longer by us
        self._making: dict[str, threading.Event] = {}
        self._bytes = 0

    @property
    def bytes(self) -> int:
        """Bytes of all values that are kept here, or held by somebody who got them here."""
        held = list(self._held.values())
        return self._bytes + sum(size for value, size in held if value() is not None)

    def __len__(self) -> int:
        return len(self._values)

    def peek(self, key: str) -> T | None:
        """The value if it is there, without making it."""
        with self._lock:
            return self._find(key)

    def get(
        self,
        key: str,
        make: Callable[[], T],
        size: Callable[[T], int],
        *,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> T:
        """The value of ``key``, made by ``make`` if it is not there; ``size`` gives its bytes.

        ``cancelled`` is asked while another caller's ``make`` is waited for; raises Cancelled when it says so.
        """
        while True:
            with self._lock:
                found = self._find(key)
                if found is not None:
                    return found
                other = self._making.get(key)
                if other is None:
                    mine = self._making[key] = threading.Event()
                    break
            while not other.wait(_TICK):
                if cancelled():
                    raise Cancelled(later("The run was stopped."))
        try:
            value = make()
            if self._keep(key, value, size(value)):
                self._full()
            return value
        finally:
            with self._lock:
                del self._making[key]
            mine.set()

    def count(self, value: T, size: int) -> None:
        """Let a value count that was made elsewhere, for as long as somebody holds it; asked again it counts once."""
        with self._lock:
            self._held[f"counted {id(value)}"] = weakref.ref(value), size
            full = self._make_room()
        if full:
            self._full()

    def discard(self, key: str) -> None:
        """Forget one value, if it is there."""
        with self._lock:
            _, freed = self._values.pop(key, (None, 0))
            self._bytes -= freed
            self._held.pop(key, None)

    def evict(self) -> bool:
        """Forget the longest unused value; False where there is none."""
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
        """Whether something had to leave for it."""
        with self._lock:
            if size > self.limit:
                self._watch(key, value, size)
                return True
            self._values[key] = (value, size)
            self._bytes += size
            return self._make_room()

    def _make_room(self) -> bool:
        """Let the longest unused go until all is within the limit; the lock is held. Whether something has left."""
        left = False
        self._held = {key: held for key, held in self._held.items() if held[0]() is not None}
        while self._values and self.bytes > self.limit:
            self._let_go()
            left = True
        return left

    def _let_go(self) -> None:
        key, (value, size) = self._values.popitem(last=False)
        self._bytes -= size
        self._watch(key, value, size)

    def _watch(self, key: str, value: T, size: int) -> None:
        with suppress(TypeError):  # tuples, texts and numbers have no weak references
            self._held[key] = weakref.ref(value), size
