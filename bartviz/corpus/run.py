"""A corpus through a model: parts are measured by one process or several, and added up to an atlas.

A run that was stopped, by whatever, is resumed: parts whose shard is there are not measured again.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from multiprocessing import active_children, get_context, parent_process
from pathlib import Path

import torch

from bartviz.analysis.corpus_measures import SILENCED, of_text
from bartviz.corpus import atlas, cluster, head_ablation, read, text_values, work
from bartviz.corpus.cluster import Loading
from bartviz.corpus.encode import check_columns
from bartviz.corpus.read import Bad, Columns, Form, Line
from bartviz.corpus.run_folder import RANDOM_PART, Folder, Job, jobs
from bartviz.errors import Cancelled, SettingError, TextError
from bartviz.models.load import load
from bartviz.models.model import Model
from bartviz.safety.torch_defaults import torch_defaults
from bartviz.tape.tape import depths
from bartviz.text.clean import Truncate
from bartviz.version import versions

SIZE = 2_048  # rows of a part
RANDOM = Job(RANDOM_PART, (), ())


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


@torch_defaults()
def corpus(
    path: str | Path,
    model: str,
    out: str | Path,
    *,
    columns: Columns | None = None,
    form: Form | None = None,
    paragraphs: bool = False,
    name: str | None = None,
    device: str = "cpu",
    workers: int = 1,
    ray: str | None = None,
    resume: bool = False,
    edges: float | None = None,
    silence: int = 0,
    truncate: Truncate | None = None,
    values: bool = False,
    size: int = SIZE,
    report: Report = lambda _progress: None,
) -> atlas.Atlas:
    """Measure every head of a model over a corpus, and write the atlas to the folder ``out``.

    model: a name as ``bartviz.load`` accepts it; each of the ``workers`` processes loads it once.
    name, device: what the model is called, and where each of them computes, as for ``bartviz.load``.
    ray: the address of a Ray cluster on which the workers run, or "local" for a Ray of this run's own.
    columns, form, paragraphs: what to read, as in ``read.lines``.
    resume: finish a run that was stopped, with the same model, corpus and settings.
    edges: keep every single edge above this weight for ``Atlas.find``, and the tokens; by default none.
    silence: about how many texts, drawn at random, each head is silenced on in turn; one pass per head. By default 0.
    truncate: which part is read of a text that is too long for the model, "first" or "last"; by default it is left out,
    as one with a tree or an alignment by hand always is.
    values: keep the value of every measure, head and text (4 bytes each) for ``Atlas.values`` and for paired
    comparisons; by default only their sums are kept.
    size: rows of a part: what is lost at most for each worker if the run is stopped.
    Raises TextError, SettingError, ModelError, PackageError without Ray, Cancelled where a worker is stopped.
    """
    source, chosen = Path(path), columns or Columns()
    if workers < 1 or size < 1:
        raise SettingError("Workers and rows of a part are at least 1.")
    if edges is not None and not 0 < edges < 1:
        raise SettingError("The weight above which edges are kept is between 0 and 1.")
    rows = partial(read.lines, source, chosen, form, paragraphs=paragraphs)
    read.check(source, chosen, form)  # before a model is loaded
    loading = partial(load, model, name=name, device=device)
    loaded = loading()
    check_columns(loaded, chosen)
    head_ablation.check(loaded, silence)
    count = sum(1 for _ in rows())
    if count == 0:
        raise TextError("The corpus has no rows.")
    kept: dict[str, object] = {} if edges is None else {"edges": edges}
    if silence:
        kept["silence"] = silence
    if truncate is not None:
        kept["truncate"] = truncate
    if values:
        kept["values"] = True
    if form is not None and form != Form():
        kept["form"] = asdict(form)
    about = {"name": source.name.encode("utf-8", "replace").decode(), "digest": read.digest(source), "rows": count}
    settings = {"columns": asdict(chosen), "paragraphs": paragraphs, "size": size} | kept
    manifest = _manifest(loaded, about, settings, [SILENCED] * bool(silence))
    folder = Folder(Path(out), manifest, resume=resume)
    if not folder.has(RANDOM):
        folder.put(RANDOM, work.random(loaded).files())
    if ray is not None:
        measure = partial(_by_ray, folder, loaded, loading, ray, workers)
    else:
        measure = partial(_alone, folder, loaded) if workers == 1 else partial(_together, folder, loading, workers)
    _measure(folder, measure, jobs(rows(), size, edges, silence / count, truncate, values), count, report)
    return _finish(folder, lambda: jobs(rows(), size), rows())


@torch_defaults()
def of_lines(
    model: Model,
    rows: Sequence[Line | Bad],
    name: str,
    *,
    size: int = SIZE,
    values: bool = False,
    report: Report = lambda _progress: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> atlas.Atlas:
    """The atlas of rows in memory, which are numbered from 0; nothing is written. ``name`` is that of the corpus;
    ``values`` as for ``corpus``.

    ``report`` is called after every ``size`` rows; what it raises ends the run. ``cancelled`` is looked at after every
    text and every layer. Raises TextError where no row can be used, Cancelled.
    """
    started, done = time.monotonic(), 0
    shards = []
    for job in jobs(iter(rows), size, values=values):
        shards.append(work.measured(model, job, cancelled))
        done += job.rows
        report(Progress(done, len(rows), done, time.monotonic() - started))
    manifest = _manifest(model, {"name": name, "rows": len(rows)}, {"size": size})
    made = atlas.added(manifest, shards, work.random(model, cancelled), rows)
    parts = [shard.tables[text_values.NAME] for shard in shards if text_values.NAME in shard.tables]
    return replace(made, kept=text_values.joined(parts)) if parts else made


def _manifest(
    model: Model, about: Mapping[str, object], settings: Mapping[str, object], more: Sequence[str] = ()
) -> dict[str, object]:
    measures = {kind: [measure.name for measure in of_text(kind)] + [*more] for kind in depths(model.network)}
    return {"model": asdict(model.info), "corpus": about, "settings": settings, "measures": measures}


def _measure(
    folder: Folder, measure: Callable[[Iterator[Job]], Iterator[Job]], todo: Iterator[Job], count: int, report: Report
) -> None:
    """Measure the parts whose shards are missing, and report after each."""
    there, fresh, started = 0, 0, time.monotonic()

    def missing() -> Iterator[Job]:
        nonlocal there
        for job in todo:
            if folder.has(job):
                there += job.rows
            else:
                yield job

    for job in measure(missing()):
        fresh += job.rows
        report(Progress(there + fresh, count, fresh, time.monotonic() - started))


def _alone(folder: Folder, model: Model, todo: Iterator[Job]) -> Iterator[Job]:
    for job in todo:
        folder.put(job, work.measured(model, job).files())
        yield job


def _by_ray(
    folder: Folder, model: Model, loading: Loading, address: str, workers: int, todo: Iterator[Job]
) -> Iterator[Job]:
    for job, files in cluster.together(model, loading, address, workers, todo):
        folder.put(job, files)
        yield job


_worker: dict[str, Callable[[Job], None]] = {}  # of this process, one of several


def _start(folder: Folder, loading: Loading) -> None:
    threading.Thread(target=_end_with_the_run, daemon=True).start()
    torch.set_num_threads(1)
    model = loading()
    gc.freeze()  # what is loaded stays: no collection looks at it again
    _worker["put"] = lambda job: folder.put(job, work.measured(model, job).files())


def _end_with_the_run() -> None:
    """End this process when the one that started it is gone, however it went: a pool's workers would wait forever."""
    run = parent_process()
    if run is not None:
        run.join()
        os._exit(1)


def _put(job: Job) -> None:
    _worker["put"](job)


def _together(folder: Folder, loading: Loading, workers: int, todo: Iterator[Job]) -> Iterator[Job]:
    """Several processes, each of which writes what it measured: a pool waits forever for the rest of a long reply whose
    worker is killed. In order; enough parts are queued to keep every worker busy.
    """
    others = set(active_children())
    with ProcessPoolExecutor(workers, get_context("spawn"), _start, (folder, loading)) as pool:
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


def _finish(folder: Folder, todo: Callable[[], Iterator[Job]], rows: Iterator[Line | Bad]) -> atlas.Atlas:
    """Add the shards up and write the atlas."""
    made = atlas.added(folder.manifest, map(folder.get, todo()), folder.get(RANDOM), rows)
    if folder.manifest["settings"].get("values"):
        kept = folder.path / text_values.FILE
        shards = ((folder.path / text_values.NAME / f"{job.number:06d}.parquet", folder.get(job)) for job in todo())
        text_values.join(kept, ((path, shard.sums) for path, shard in shards if shard.texts))
        made = replace(made, kept=kept)
    began = {} if folder.began == versions() else {"began_with": folder.began}
    return atlas.write(folder.path, replace(made, description={**made.description, **began}))
