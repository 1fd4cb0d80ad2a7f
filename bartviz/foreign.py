"""Work that other libraries do: whatever they raise leaves as one of our errors, and the log says where it was."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from bartviz.errors import BartvizError

_LOG = logging.getLogger("bartviz")


@contextmanager
def guarded(error: BartvizError) -> Iterator[None]:
    """Raise ``error`` in place of anything that is not ours.

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
        raise error from None


def told(fault: BaseException) -> None:
    """Log the kind of a fault and where it happened; not its message, which may hold what a visitor typed."""
    places = "".join(traceback.format_tb(fault.__traceback__))
    _LOG.warning("%s from another library:\n%s", type(fault).__name__, places)
