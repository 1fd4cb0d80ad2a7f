"""The parts of a corpus, measured by this process, by several, or by Ray's; those that are there are left alone."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import active_children, get_context, parent_process

import torch

from bartviz.corpus import cluster
from bartviz.corpus.cluster import Measuring, Starting
from bartviz.corpus.run_folder import Job, Store
from bartviz.errors import Cancelled


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


_worker: dict[str, Callable[[Job], None]] = {}  # of this process, one of several


def _start(folder: Store, starting: Starting) -> None:
    threading.Thread(target=_end_with_the_run, daemon=True).start()
    torch.set_num_threads(1)
    measuring = starting()
    gc.freeze()  # what is loaded stays: no collection looks at it again
    _worker["put"] = lambda job: folder.put(job, measuring.files(job))


def _end_with_the_run() -> None:
    """End this process when the one that started it is gone, however it went: a pool's workers would wait forever."""
    run = parent_process()
    if run is not None:
        run.join()
        os._exit(1)


def _put(job: Job) -> None:
    _worker["put"](job)


def _together(folder: Store, starting: Starting, workers: int, todo: Iterator[Job]) -> Iterator[Job]:
    """Several processes, each of which writes what it measured: a pool waits forever for the rest of a long reply whose
    worker is killed. In order; enough parts are queued to keep every worker busy.
    """
    others = set(active_children())
    with ProcessPoolExecutor(workers, get_context("spawn"), _start, (folder, starting)) as pool:
        try:
            waiting: deque[tuple[Job, Future[None]]] = deque()

            def first() -> Job:
                job, written = waiting.popleft()
                written.result()
                return job

            for job in todo:
                with _own_interrupts():
                    begun = pool.submit(_put, job)
                waiting.append((job, begun))
                if len(waiting) > 2 * workers:
                    yield first()
            while waiting:
                yield first()
        except BrokenProcessPool as error:
            raise Cancelled("A worker was stopped. Resume the run: finished parts are kept.") from error
        except KeyboardInterrupt:  # a part takes long, and shards are written whole or not at all
            for worker in set(active_children()) - others:
                worker.terminate()
            raise
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


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
