"""The parts of a corpus, measured by this process, by several, or by Ray's; those that are there are left alone."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing import active_children, get_context, parent_process
from typing import Any, TypeVar

import torch

from bartviz.corpus import cluster
from bartviz.corpus.cluster import Measuring, Starting
from bartviz.corpus.run_folder import Job, Store
from bartviz.errors import Cancelled

HEARD = 0.5  # seconds between two looks at what workers report
Given = TypeVar("Given")
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is: ``rows`` of ``all`` are done, ``fresh`` of them in the last ``seconds``, by this run."""

    rows: int
    all: int
    fresh: int
    seconds: float

    @property
    def rate(self) -> float:
        """Rows per second."""
        return self.fresh / self.seconds if self.seconds > 0 else 0.0

    @property
    def left(self) -> float | None:
        """Seconds left; None before anything was measured."""
        return (self.all - self.rows) / self.rate if self.rate else None


Report = Callable[[Progress], None]


def measure(
    folder: Store,
    measuring: Measuring,
    starting: Starting,
    todo: Iterator[Job],
    count: int,
    report: Report,
    *,
    workers: int,
    ray: str | None,
) -> None:
    """Write the parts that the folder lacks, and report after each how many of ``count`` rows are done.

    measuring: what this process measures with, if it is the only one; ``starting`` gives each of several workers its
    own. ray: the address of a cluster, as for ``cluster.together``. Raises Cancelled where a worker is stopped.
    """
    there, fresh, started = 0, 0, time.monotonic()

    def missing() -> Iterator[Job]:
        nonlocal there
        for job in todo:
            if folder.has(job):
                there += job.rows
            else:
                yield job

    if ray is not None:
        done = _by_ray(folder, measuring, starting, ray, workers, missing())
    elif workers == 1:
        done = _alone(folder, measuring, missing())
    else:
        done = _together(folder, starting, workers, missing())
    for job in done:
        fresh += job.rows
        report(Progress(there + fresh, count, fresh, time.monotonic() - started))


def _alone(folder: Store, measuring: Measuring, todo: Iterator[Job]) -> Iterator[Job]:
    for job in todo:
        folder.put(job, measuring.files(job))
        yield job


def _by_ray(
    folder: Store, measuring: Measuring, starting: Starting, address: str, workers: int, todo: Iterator[Job]
) -> Iterator[Job]:
    for job, files in cluster.together(measuring, starting, address, workers, todo):
        folder.put(job, files)
        yield job


def _together(folder: Store, starting: Starting, workers: int, todo: Iterator[Job]) -> Iterator[Job]:
    """Several processes, each of which writes what it measured: a pool waits forever for the rest of a long reply whose
    worker is killed.
    """
    for job, _ in each(partial(_putting, folder, starting), todo, workers):
        yield job


def _putting(folder: Store, starting: Starting) -> Callable[[Job], None]:
    measuring = starting()
    return lambda job: folder.put(job, measuring.files(job))


def each(
    start: Callable[[], Callable[[Given], Made]],
    todo: Iterable[Given],
    workers: int,
    meanwhile: Callable[[], None] | None = None,
) -> Iterator[tuple[Given, Made]]:
    """What is made of each by several processes, in order; enough is queued to keep every worker busy.

    start: called once in each process, gives what is called there; both are sent by their names. meanwhile: called here
    while something is waited for. Raises Cancelled where a worker is stopped.
    """
    others = set(active_children())
    with ProcessPoolExecutor(workers, get_context("spawn"), _start, (start,)) as pool:
        try:
            waiting: deque[tuple[Given, Future[Made]]] = deque()

            def first() -> tuple[Given, Made]:
                one, made = waiting.popleft()
                while meanwhile is not None and not wait([made], HEARD).done:
                    meanwhile()
                return one, made.result()

            for one in todo:
                with _own_interrupts():
                    begun = pool.submit(_call, one)
                waiting.append((one, begun))
                if len(waiting) > 2 * workers:
                    yield first()
            while waiting:
                yield first()
        except BrokenProcessPool as error:
            raise Cancelled("A worker was stopped. Resume the run: finished parts are kept.") from error
        except BaseException:  # a part takes long, and shards are written whole or not at all
            for worker in set(active_children()) - others:
                worker.terminate()
            raise
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


_worker: dict[str, Callable[[Any], Any]] = {}  # of this process, one of several


def _start(start: Callable[[], Callable[[Any], Any]]) -> None:
    threading.Thread(target=_end_with_the_run, daemon=True).start()
    torch.set_num_threads(1)
    call = start()
    gc.freeze()  # what is loaded stays: no collection looks at it again
    _worker["call"] = call


def _call(one: Any) -> Any:
    return _worker["call"](one)


def _end_with_the_run() -> None:
    """End this process when the one that started it is gone, however it went: a pool's workers would wait forever."""
    run = parent_process()
    if run is not None:
        run.join()
        os._exit(1)


@contextmanager
def _own_interrupts() -> Iterator[None]:
    """Start processes that Ctrl+C does not reach: a terminal sends it to all, and each would print a traceback.

    A signal that is blocked here is delivered afterwards, and stays blocked in a process that is started meanwhile.
    """
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
