"""Calls into other libraries: whatever they raise becomes one of our errors, and the log shows where it happened."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from bartviz.errors import BartvizError, BudgetError, ModelError
from bartviz.language import later
from bartviz.safety import logs, reservations


@contextmanager
def guarded(error: BartvizError) -> Iterator[None]:
    """Raise ``error`` in place of any foreign exception, or BudgetError if memory ran out.

    This includes the panic of a Rust library, a BaseException that ``except Exception`` misses. Whatever stops a
    program or a thread (KeyboardInterrupt, SystemExit, a rerun of Streamlit) passes through.
    """
    try:
        yield
    except BartvizError:
        raise
    except BaseException as fault:
        if not isinstance(fault, Exception) and type(fault).__name__ != "PanicException":
            raise
        log_fault(fault)
        if reservations.was_short(fault):
            raise BudgetError(
                later("There is not enough memory for this. Use less text or a smaller model, or free some memory.")
            ) from None
        raise error from None


IMPORTING = threading.RLock()
"""Only one thread imports the model library: a second one would miss names that transformers does not have yet."""


@contextmanager
def starting() -> Iterator[None]:
    """Raise ModelError if the model library cannot be imported; other exceptions pass through."""
    try:
        with IMPORTING:
            yield
    except (ImportError, OSError, MemoryError, RuntimeError) as fault:
        log_fault(fault)
        raise ModelError(
            later(
                "The model library (torch) cannot be started. Usually the machine has too little memory "
                "left: about 2 GB are needed. Saved records and parameter tables work without it."
            )
        ) from None


def run_failed() -> ModelError:
    """The error of a run whose network fails on a text."""
    return ModelError(later("The run failed inside the model. Try another text or model."))


def log_fault(fault: BaseException) -> None:
    """Log the type of a fault and where it happened, but not its message, which may contain a visitor's text."""
    logs.log.info("From another library:\n%s", logs.where(fault))
