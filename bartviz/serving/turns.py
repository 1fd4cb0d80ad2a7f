"""At most a few pages are drawn at a time: fifty threads that compute keep each other and the server's loop waiting.

Python runs one thread at a time and hands on in no order: with fifty in line, the loop that sends what they draw gets
its turn after a quarter of a second, for every message. Four draw as much in a second as fifty do.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

MOST = 4
PATIENCE = 5.0  # seconds after which a page is drawn in any case: others may compute for long

_free = threading.Semaphore(MOST)
_mine = threading.local()


@contextmanager
def turn() -> Iterator[None]:
    """Wait for a turn, and keep it while the page is drawn."""
    _mine.held = _free.acquire(timeout=PATIENCE)
    try:
        yield
    finally:
        _give()


@contextmanager
def aside() -> Iterator[None]:
    """Let others draw while this thread, which may be drawing, waits for something."""
    held = _give()
    try:
        yield
    finally:
        if held:
            _mine.held = _free.acquire(timeout=PATIENCE)


def _give() -> bool:
    """Give the turn back, if this thread has one."""
    held = getattr(_mine, "held", False)
    _mine.held = False
    if held:
        _free.release()
    return held
