"""What the server imports when: the start page's modules at once, the other pages' when one is opened, torch last.

Each in one thread at a time. Two threads that begin at two ends of a package (``bartviz.figures`` imports its modules,
a page imports one of them) wait for each other, and Python then hands one of them what is half made.
"""

from __future__ import annotations

import gc
import pkgutil
import sys
import threading
from contextlib import suppress
from importlib import import_module

from bartviz.errors import BudgetError
from bartviz.language import later
from bartviz.safety import memory

SIZE = 400  # MB of the model library
ROOMS = ("bartviz.analysis", "bartviz.figures", "bartviz.ui")  # what pages draw with; none imports torch by itself
_PAGES, _IMPORT, _WARM = threading.Lock(), threading.Lock(), threading.Lock()
_whole = threading.Event()
_SHORT = threading.Event()  # the memory was too small


def pages() -> None:
    """Import all that pages draw with, once: whoever needs it meanwhile waits here."""
    with _PAGES:
        if _whole.is_set():
            return
        for room in ROOMS:
            for module in pkgutil.walk_packages(import_module(room).__path__, f"{room}."):
                import_module(module.name)
        _whole.set()


def load() -> None:
    """Import torch and the model classes, once; what they made is then kept out of every later garbage collection.

    Raises BudgetError where the memory is too small for them: what they have not loaded then is not loaded by a second
    attempt, whatever that complains of.
    """
    with _IMPORT:
        if imported():
            return
        if _SHORT.is_set():
            raise _too_small()
        try:
            pages()
            import bartviz.run.forward  # noqa: F401 - imported for what it brings in, the model classes too
        except Exception as error:
            if not memory.was_short(error):
                raise
            _SHORT.set()
            raise _too_small() from None
        gc.collect()
        gc.freeze()


def _too_small() -> BudgetError:
    return BudgetError(
        later(
            "The machine has too little memory to start the model library, which takes about {size} MB. Give the app "
            "more memory and start it again; until then it shows saved records alone.",
            size=SIZE,
        )
    )


def imported() -> bool:
    """Whether it is there: then a short run takes a moment."""
    return "bartviz.run.forward" in sys.modules


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
