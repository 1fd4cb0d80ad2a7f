"""Draw only a few pages at a time: fifty computing threads block each other and the server's event loop.

Python runs one thread at a time, in no fair order: with fifty ready threads, the loop that sends their output waits a
quarter of a second for every message. Two threads draw as many pages per second as fifty, and leave more of the time to
the loop and to the model's thread, which waits for its turn after each of a thousand small products.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

MOST = 2
PATIENCE = 5.0  # seconds after which a page is drawn in any case

_free = threading.Semaphore(MOST)
_thread = threading.local()


@contextmanager
def turn() -> Iterator[None]:
    """Wait for a turn, and hold it while the page is drawn."""
    _thread.held = _free.acquire(timeout=PATIENCE)
    try:
        yield
    finally:
        _release()


@contextmanager
def aside() -> Iterator[None]:
    """Release the turn, if held, while this thread waits for something."""
    held = _release()
    try:
        yield
    finally:
        if held:
            _thread.held = _free.acquire(timeout=PATIENCE)


def _release() -> bool:
    """Release the turn, if this thread holds one."""
    held = getattr(_thread, "held", False)
    _thread.held = False
    if held:
        _free.release()
    return held
