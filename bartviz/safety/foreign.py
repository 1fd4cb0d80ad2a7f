"""Work that other libraries do: whatever they raise leaves as one of our errors, and the log says where it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from bartviz.errors import BartvizError, BudgetError, ModelError
from bartviz.language import later
from bartviz.safety import logs, memory


@contextmanager
def guarded(error: BartvizError) -> Iterator[None]:
    """Raise ``error`` in place of anything that is not ours, BudgetError where memory ran out.

    A Rust library's panic too: it is a BaseException, which ``except Exception`` lets through. What stops a program or
    a thread (KeyboardInterrupt, SystemExit, a rerun of Streamlit) is none of our business and passes.
    """
    try:
        yield
    except BartvizError:
        raise
    except BaseException as fault:
        if not isinstance(fault, Exception) and type(fault).__name__ != "PanicException":
            raise
        told(fault)
        if memory.was_short(fault):
            raise BudgetError(
                later("There is not enough memory for this. Take less text or a smaller model, or free some memory.")
            ) from None
        raise error from None


@contextmanager
def starting() -> Iterator[None]:
    """Raise ModelError where the model library cannot be imported: what else fails within is no business of ours."""
    try:
        yield
    except (ImportError, OSError, MemoryError, RuntimeError) as fault:
        told(fault)
        raise ModelError(
            later(
                "The model library (torch) cannot be started. Most often the machine has too little memory left: about "
                "2 GB are needed. Saved records and parameter tables work without it."
            )
        ) from None


def run_failed() -> ModelError:
    """What a run ends with where the network, or what it is made of, fails on a text."""
    return ModelError(later("The run failed inside the model. Try another text or model."))


def told(fault: BaseException) -> None:
    """Log the kind of a fault and where it happened; not its message, which may hold what a visitor typed."""
    logs.log.info("From another library:\n%s", logs.where(fault))
