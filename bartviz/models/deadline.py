"""Waiting for work that may hang, such as a download: one deadline, a cancel event, progress in the caller's thread.

The work runs in a thread of its own. A name server or a disk that never answers cannot be interrupted from Python, so
at the deadline (or on cancel) the caller continues and abandons the thread, which ends at its next ``Job.check``.
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
TICK = 0.05  # seconds between checks of the cancel event
DEADLINE = 600.0  # seconds to load a model, download included
SMALL = 10_000_000  # bytes: smaller downloads are reported in hundredths of a megabyte


def downloading(done: int, total: int) -> str:
    """The progress message of a download; a small one in hundredths of a megabyte, so that none reads "0 of 0 MB"."""
    values = {"done": done / 1e6, "all": total / 1e6}
    if total < SMALL:
        return later("Downloading the model: {done:,.2f} of {all:,.2f} MB", **values)
    return later("Downloading the model: {done:,.0f} of {all:,.0f} MB", **values)


class Cancel(Protocol):
    """The part of ``threading.Event`` that is needed: whether the user wants the work to stop."""

    def is_set(self) -> bool: ...


class Job:
    """The work's view of its caller: the time left, whether to continue, and where to report progress."""

    def __init__(self, seconds: float) -> None:
        self.done, self.size = 0, 0  # bytes of the download, arrived and in all
        self._seconds = seconds
        self._end = time.monotonic() + seconds
        self._abandoned = Event()

    def left(self) -> float:
        """Seconds to the deadline; 0 when it has passed."""
        return max(0.0, self._end - time.monotonic())

    @property
    def progress(self) -> tuple[int, int]:
        return self.done, self.size

    def check(self) -> None:
        """Raise Cancelled if nobody is waiting any more, ModelError after the deadline."""
        if self._abandoned.is_set():
            raise Cancelled(later("Loading the model was stopped."))
        if self.left() > 0:
            return
        if self.done < self.size:
            raise ModelError(
                later(
                    "The hub did not deliver the model within {seconds:g} seconds: {done:,.1f} of {size:,.1f} MB "
                    "were downloaded and are kept. Try again to resume.",
                    seconds=self._seconds,
                    done=self.done / 1e6,
                    size=self.size / 1e6,
                )
            )
        raise ModelError(
            later(
                "The model was not ready within {seconds:g} seconds. Try again, or allow more time.",
                seconds=self._seconds,
            )
        )

    def pause(self, seconds: float) -> None:
        """Wait, but not past the deadline or after being abandoned."""
        self._abandoned.wait(min(seconds, self.left()))
        self.check()

    def abandon(self) -> None:
        self._abandoned.set()


def run(
    work: Callable[[Job], T], *, seconds: float, cancel: Cancel | None = None, progress: Progress | None = None
) -> T:
    """``work(job)``'s result within ``seconds``; ``progress(done, total)`` is called in this thread.

    Raises what the work raises, Cancelled when ``cancel`` is set, ModelError at the deadline.
    """
    job = Job(seconds)
    reported = job.progress
    future = _start(lambda: work(job))
    try:
        while True:
            done = wait([future], timeout=min(TICK, job.left())).done
            if progress is not None and job.progress != reported:
                reported = job.progress
                progress(*reported)
            if done:
                return future.result()
            if cancel is not None and cancel.is_set():
                raise Cancelled(later("Loading the model was stopped."))
            job.check()
    finally:
        job.abandon()
        del future  # an error references the frames it passed, including this one: avoid the reference cycle


def within(seconds: float, work: Callable[[], T]) -> T:
    """``work()``'s result, or TimeoutError after ``seconds``, even if the work hangs."""
    return _start(work).result(timeout=seconds)


def _start(work: Callable[[], T]) -> Future[T]:
    """Run ``work`` in a daemon thread with a copy of this context."""
    future: Future[T] = Future()
    context = copy_context()

    def target() -> None:
        try:
            future.set_result(context.run(work))
        except BaseException as error:
            stack = error.__traceback__
            future.set_exception(
                error.with_traceback(stack and stack.tb_next)
            )  # without this frame, for the same reason

    Thread(target=target, name="bartviz-loading", daemon=True).start()
    return future
