"""Waiting for work that may hang, such as a download: one deadline, a cancel event, progress in the caller's thread.

The work runs in a thread of its own. A name server or a disk that never answers cannot be interrupted from Python, so
at the deadline (or on cancel) the caller goes on and the thread is left behind; it ends at its next ``Job.check``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextvars import copy_context
from threading import Event, Thread
from typing import Protocol, TypeVar

from bartviz.errors import Cancelled, ModelError
from bartviz.language import later

T = TypeVar("T")
Progress = Callable[[int, int], None]
TICK = 0.05  # seconds between two looks at the cancel event
DEADLINE = 600.0  # seconds for all of a model, its download included
SMALL = 10_000_000  # bytes of a download that is told in hundredths of a megabyte


def downloading(done: int, total: int) -> str:
    """How much of a download has come, in bytes; a small one in hundredths, so that none reads "0 of 0 MB"."""
    told = {"done": done / 1e6, "all": total / 1e6}
    if total < SMALL:
        return later("Downloading the model: {done:,.2f} of {all:,.2f} MB", **told)
    return later("Downloading the model: {done:,.0f} of {all:,.0f} MB", **told)


class Cancel(Protocol):
    """What ``threading.Event`` offers: whether the user wants the work to stop."""

    def is_set(self) -> bool: ...


class Job:
    """What the work sees of its caller: the time left, whether to go on, and where to report progress."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.late = later(
            "The model was not ready within {seconds:g} seconds. Try again, or allow more time.", seconds=seconds
        )
        self.progress = (0, 0)  # bytes done, bytes in all
        self._end = time.monotonic() + seconds
        self._abandoned = Event()

    def left(self) -> float:
        """Seconds to the deadline; 0 when it has passed."""
        return max(0.0, self._end - time.monotonic())

    def check(self) -> None:
        """Raise Cancelled when nobody waits any more, ModelError when the deadline has passed."""
        if self._abandoned.is_set():
            raise Cancelled(later("Loading the model was stopped."))
        if self.left() == 0:
            raise ModelError(self.late)

    def pause(self, seconds: float) -> None:
        """Wait, but no longer than anybody waits for us."""
        self._abandoned.wait(min(seconds, self.left()))
        self.check()

    def abandon(self) -> None:
        self._abandoned.set()


def run(
    work: Callable[[Job], T], *, seconds: float, cancel: Cancel | None = None, progress: Progress | None = None
) -> T:
    """``work(job)``'s result within ``seconds``; ``progress(done, total)`` is called in this thread.

    Raises what the work raises, Cancelled when ``cancel`` is set, ModelError (``job.late``) at the deadline.
    """
    job = Job(seconds)
    told = job.progress
    future = _start(lambda: work(job))
    try:
        while True:
            done = wait([future], timeout=min(TICK, job.left())).done
            if progress is not None and job.progress != told:
                told = job.progress
                progress(*told)
            if done:
                return future.result()
            if cancel is not None and cancel.is_set():
                raise Cancelled(later("Loading the model was stopped."))
            job.check()
    finally:
        job.abandon()
        del future  # an error holds the frames it went through, this one too: nothing here may hold the error


def within(seconds: float, work: Callable[[], T]) -> T:
    """``work()``'s result, or TimeoutError after ``seconds``, whatever the work hangs on."""
    return _start(work).result(timeout=seconds)


def _start(work: Callable[[], T]) -> Future[T]:
    """Run ``work`` in a daemon thread that sees this context's variables."""
    future: Future[T] = Future()
    context = copy_context()

    def target() -> None:
        try:
            future.set_result(context.run(work))
        except BaseException as error:
            stack = error.__traceback__
            future.set_exception(error.with_traceback(stack and stack.tb_next))  # without this frame, as above

    Thread(target=target, name="bartviz-loading", daemon=True).start()
    return future
