"""The parts of a corpus measured by workers of Ray, on this machine or on those of a cluster.

Ray only calls the function that one process calls, too: shards are written by the caller, who can resume whatever
stopped. A worker that is killed starts again and repeats its part; the caller needs the output folder, the workers
the model under the same name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from itertools import islice
from typing import Any, Protocol

import torch

from bartviz.corpus.run_folder import Files, Job
from bartviz.errors import BartvizError, Cancelled, SettingError
from bartviz.models.model import Model
from bartviz.safety.ray_cluster import connected

CPUS = 0.5  # of a worker, so that it starts on a machine whose CPUs are all taken but half a one
RESTARTS = 10  # of a worker
REPEATS = 3  # of a part, each after its worker was stopped
PATIENCE = 600.0  # seconds until a first worker has started


class Measuring(Protocol):
    """What measures parts of a corpus with a model."""

    @property
    def model(self) -> Model: ...

    def files(self, job: Job) -> Files:
        """The files of a part."""


Starting = Callable[[], Measuring]


def together(
    measuring: Measuring, starting: Starting, address: str, workers: int, todo: Iterator[Job]
) -> Iterator[tuple[Job, Files]]:
    """The results of all parts, as they come; no more than two parts wait for each worker.

    measuring: has the model that the workers must have; starting: gives a worker what it measures with. address:
    of a cluster, or "local" for a Ray of this run's own.
    Raises PackageError without Ray, SettingError where no worker starts or a worker has another model, and Cancelled
    where workers are stopped again and again.
    """
    ray = connected(address, workers)
    try:
        yield from _results(ray, measuring, starting, workers, todo)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, BartvizError):
            raise error.cause from error
        raise
    except (ray.exceptions.RayActorError, ray.exceptions.RaySystemError) as error:
        raise Cancelled("Workers were stopped. Resume the run: finished parts are kept.") from error
    finally:
        ray.shutdown()


class Worker:
    """A process that holds the model."""

    def __init__(self, starting: Starting) -> None:
        torch.set_num_threads(1)
        self._measuring = starting()

    def model(self) -> dict[str, Any]:
        """A description of the model, with the digest of its weights."""
        return asdict(self._measuring.model.info)

    def measured(self, job: Job) -> Files:
        """The files of a part."""
        return self._measuring.files(job)


def _results(
    ray: Any, measuring: Measuring, starting: Starting, workers: int, todo: Iterator[Job]
) -> Iterator[tuple[Job, Files]]:
    actor = ray.remote(num_cpus=CPUS, max_restarts=RESTARTS, max_task_retries=REPEATS)(Worker)
    waiting = {worker.model.remote(): worker for worker in (actor.remote(starting) for _ in range(workers))}
    running: dict[Any, tuple[Any, Job]] = {}

    def give(worker: Any, count: int) -> None:
        for job in islice(todo, count):
            running[worker.measured.remote(job)] = worker, job

    started = 0
    while waiting or running:
        if started and not running:
            return
        done, _ = ray.wait([*running, *waiting], timeout=None if started else PATIENCE)
        if not done:
            raise SettingError("No worker of Ray started: its machines have no free CPU, or it cannot be reached.")
        result = ray.get(done[0])
        if done[0] in waiting:
            worker = waiting.pop(done[0])
            if result != asdict(measuring.model.info):
                raise SettingError("A worker of Ray has another model under that name: put the same files there.")
            started += 1
            give(worker, 2)
        else:
            worker, job = running.pop(done[0])
            give(worker, 1)
            yield job, result
