"""The model library (torch and the model classes), imported once per server and late: the first picture needs none."""

from __future__ import annotations

import gc
import sys
import threading
from contextlib import suppress

_IMPORT, _WARM = threading.Lock(), threading.Lock()


def load() -> None:
    """Import torch and the model classes, once; what they made is then kept out of every later garbage collection."""
    with _IMPORT:
        if imported():
            return
        import bartviz.forward
        import bartviz.models  # noqa: F401 - imported for what it brings in

        gc.collect()
        gc.freeze()


def imported() -> bool:
    """Whether it is there: then a short run takes a moment."""
    return "bartviz.forward" in sys.modules


def _import_quietly() -> None:
    """What goes wrong here is told by the first run; a server that is stopped meanwhile leaves no traceback."""
    with suppress(Exception):
        load()


def warm_up(delay: float = 1.5) -> None:
    """Import the library in a thread of its own, once, after the first picture had its time."""
    if _WARM.acquire(blocking=False):
        timer = threading.Timer(delay, _import_quietly)
        timer.daemon = True
        timer.start()
