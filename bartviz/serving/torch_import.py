"""Imports of the server and their time: everything before it answers anyone; without models of its own, only what pages
need, on demand.

Only one thread imports at a time. Two threads that import a package from both ends (a package
imports its modules, a page one of them) deadlock, and Python then gives one of them a partly initialized module.
"""

from __future__ import annotations

import gc
import pkgutil
import sys
import threading
from contextlib import suppress
from importlib import import_module

from bartviz import hooks
from bartviz.errors import BudgetError
from bartviz.language import later
from bartviz.safety import other_libraries, reservations

SIZE = 400  # MB of the model library
RUNS = ("run", "chapter")  # how the files of features begin that import torch
_PAGES, _IMPORT, _WARM = threading.Lock(), threading.Lock(), threading.Lock()
_whole = threading.Event()
_SHORT = threading.Event()  # there was too little memory


def pages() -> None:
    """Import everything that pages draw with, once; other threads wait here meanwhile."""
    with _PAGES:
        if _whole.is_set():
            return
        for room in hooks.pages:
            for module in pkgutil.walk_packages(import_module(room).__path__, f"{room}."):
                if module.name.rpartition(".")[2].split("_")[0] not in RUNS:
                    import_module(module.name)
        _whole.set()


def load() -> None:
    """Import torch and the model classes, once, and exempt their objects from later garbage collection.

    Raises BudgetError if there is too little memory. A failed import cannot be repeated in the same process, so every
    later call raises the same error.
    """
    with _IMPORT:
        if imported():
            return
        if _SHORT.is_set():
            raise _too_small()
        try:
            pages()
            with other_libraries.IMPORTING:
                import bartviz.run.forward  # noqa: F401 - imports the model classes too
        except Exception as error:
            if not reservations.was_short(error):
                raise
            _SHORT.set()
            raise _too_small() from None
        gc.collect()
        gc.freeze()


def _too_small() -> BudgetError:
    return BudgetError(
        later(
            "The machine has too little memory to start the model library, which takes about {size} MB. Give "
            "the app more memory and restart it; until then it only shows saved records.",
            size=SIZE,
        )
    )


def imported() -> bool:
    """Whether the model library is already imported."""
    return "bartviz.run.forward" in sys.modules


def _import_quietly() -> None:
    """Import without raising: the first run reports any error, and a server stopped meanwhile prints no traceback."""
    with suppress(Exception):
        load()


def warm_up(delay: float = 1.5) -> None:
    """Import the library in a background thread, once, after the first page has been drawn."""
    if _WARM.acquire(blocking=False):
        timer = threading.Timer(delay, _import_quietly)
        timer.daemon = True
        timer.start()
