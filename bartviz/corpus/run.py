"""A corpus through a model: parts are measured by one process or several, and added up to an atlas.

A run that was stopped, by whatever, is resumed: parts whose shard is there are not measured again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

from bartviz.analysis.corpus_measures import SILENCED, of_text
from bartviz.corpus import atlas, head_ablation, read, text_values, work
from bartviz.corpus import workers as workers_of
from bartviz.corpus.encode import check_columns
from bartviz.corpus.read import Bad, Columns, Form, Line
from bartviz.corpus.run_folder import RANDOM_PART, Folder, Job, jobs
from bartviz.corpus.workers import Progress, Report
from bartviz.errors import SettingError, TextError
from bartviz.models.load import load
from bartviz.models.model import Model
from bartviz.safety.torch_defaults import torch_defaults
from bartviz.tape.tape import depths
from bartviz.text.clean import Truncate
from bartviz.version import versions

SIZE = 2_048  # rows of a part
RANDOM = Job(RANDOM_PART, (), ())


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
    todo = jobs(rows(), size, edges, silence / count, truncate, values)
    starting = partial(_measuring, loading)
    workers_of.measure(folder, work.Measuring(loaded), starting, todo, count, report, workers=workers, ray=ray)
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


def _measuring(loading: Callable[[], Model]) -> work.Measuring:
    """What a worker of its own measures with."""
    return work.Measuring(loading())


def _manifest(
    model: Model, about: Mapping[str, object], settings: Mapping[str, object], more: Sequence[str] = ()
) -> dict[str, object]:
    measures = {kind: [measure.name for measure in of_text(kind)] + [*more] for kind in depths(model.network)}
    return {"model": asdict(model.info), "corpus": about, "settings": settings, "measures": measures}


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
