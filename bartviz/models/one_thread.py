"""Code of transformers that is not thread-safe: one thread at a time, without its progress bars, logs and warnings."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import transformers

from bartviz.models import deadline
from bartviz.models.deadline import Job

_LOADING = threading.Lock()  # transformers patches torch's initializers while it builds


@contextmanager
def alone(job: Job | None) -> Iterator[None]:
    """Run code of transformers that is not thread-safe, one thread at a time, without progress bars, logs and
    warnings."""
    while not _LOADING.acquire(timeout=deadline.TICK):
        if job is not None:
            job.check()
    logs = transformers.utils.logging
    level, bars = logs.get_verbosity(), logs.is_progress_bar_enabled()
    try:
        logs.set_verbosity(logs.CRITICAL)
        logs.disable_progress_bar()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logs.set_verbosity(level)
        if bars:
            logs.enable_progress_bar()
        _LOADING.release()
