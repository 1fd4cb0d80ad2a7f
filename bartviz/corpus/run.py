"""A corpus through a model: parts are measured by one process or several, and added up to an atlas.

A run that was stopped, by whatever, is resumed: parts whose shard is there are not measured again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any

from torch import nn
from transformers import PreTrainedTokenizerBase

from bartviz.analysis import own_measures
from bartviz.analysis.corpus_measures import of_text
from bartviz.analysis.own_measures import Own
from bartviz.callbacks import never, silent
from bartviz.corpus import atlas, head_ablation, own, schema, text_values, work
from bartviz.corpus import workers as workers_of
from bartviz.corpus.encode import check_columns
from bartviz.corpus.read import Bad, Columns, Form, Line
from bartviz.corpus.run_folder import MANIFEST, RANDOM_PART, Folder, Job, jobs, read_manifest
from bartviz.corpus.source import Source, Texts, of_files, of_texts, without_repeats
from bartviz.corpus.workers import Progress, Report
from bartviz.errors import SettingError, TextError
from bartviz.models.load import load
from bartviz.models.model import Model
from bartviz.models.wrap import model_of
from bartviz.safety.torch_defaults import torch_defaults
from bartviz.tape.head_means import HeadMeans, Mean
from bartviz.tape.tape import depths
from bartviz.text.clean import Truncate
from bartviz.version import versions

SIZE = 2_048  # rows of a part
RANDOM = Job(RANDOM_PART, (), ())


@torch_defaults()
def corpus(
    texts: str | Path | Texts,
    model: str | Model | nn.Module,
    out: str | Path | None = None,
    *,
    tokenizer: PreTrainedTokenizerBase | None = None,
    columns: Columns | Mapping[str, str] | None = None,
    form: Form | Mapping[str, Any] | None = None,
    paragraphs: bool = False,
    name: str | None = None,
    device: str = "cpu",
    workers: int = 1,
    ray: str | None = None,
    resume: bool = False,
    edges: float | None = None,
    silence: int = 0,
    mean: Mean = False,
    truncate: Truncate | None = None,
    values: bool = False,
    measures: Mapping[str, Own] = MappingProxyType({}),
    unique: bool = False,
    size: int = SIZE,
    report: Report = silent,
    cancelled: Callable[[], bool] = never,
) -> atlas.Atlas:
    """Measure every head of a model over many texts: an atlas, each number with the 95% interval of its mean.

    texts: a file or a folder (.txt, .csv, .tsv, .json, .jsonl, .parquet, .conllu, also .gz), whose texts are read as a
    stream; or the texts themselves, each a str or a pair: with the output of an encoder-decoder, or the second sentence
    of an encoder.
    model: a name as ``bartviz.load`` accepts it, which each of the ``workers`` processes loads once; or a model that is
    loaded, or a network of transformers with its ``tokenizer``, as they are in this process, which works alone.
    out: the folder that the atlas is written to, and that a stopped run goes on from; None: it stays in memory.
    name, device: what a model that is named here is called, and where each worker computes, as for ``bartviz.load``.
    ray: the address of a Ray cluster on which the workers run, or "local" for a Ray of this run's own.
    columns, form, paragraphs: what to read of files: ``{"text": "en", "target": "de"}`` names columns, also "pair" and
    "gold"; ``{"header": True, "quotes": False, "encoding": "cp1252"}`` says how a table is written; paragraphs instead
    of lines are the texts of a .txt.
    resume: finish a run that was stopped, with the same model, corpus and settings.
    edges: keep every single edge above this weight for ``Atlas.find``, and the tokens; by default none.
    silence: about how many texts, drawn at random, each head is silenced on in turn; one pass per head. By default 0.
        Of a model that was fine-tuned to label, what becomes of its labels is measured.
    mean: what a silenced head's output becomes in place of 0, as for ``bartviz.ablate``: True its mean over the
        positions of each text, or what ``bartviz.head_means`` computed.
    truncate: which part is read of a text that is too long for the model, "first" or "last"; by default it is left out,
    as one with a tree or an alignment by hand always is.
    values: keep the value of every measure, head and text (4 bytes each) for ``Atlas.values`` and for paired
    comparisons; by default only their sums are kept.
    measures: measures of your own by name, functions as ``bartviz.measures`` takes them: they are measured for each
    text, as all others and those of installed plugins. Workers import them by their names, so with several they are
    functions of a module.
    unique: count a text that is repeated, with the same second sentence and given output, only the first time; how
        often that was is ``atlas.description["corpus"]["repeated"]``. By default each row counts.
    size: rows of a part: what is lost at most for each worker if the run is stopped.
    report: called with a ``Progress`` after each part. cancelled: looked at after every text and layer, if this process
    works alone; True ends the run.
    Rows that cannot be used are in ``atlas.bad`` with the reason. Units and articles of the measures are those of
    ``bartviz.measures``.
    Raises TextError, SettingError, ModelError, PackageError without Ray, Cancelled.

    >>> atlas = bartviz.corpus(["I want to buy a car.", "It is late.", "We sleep."], model)
    >>> sorted(set(atlas.heads["kind"])), atlas.description["texts"]
    (['cross', 'decoder', 'encoder'], 3)
    """
    chosen = Columns(**columns) if isinstance(columns, Mapping) else columns or Columns()
    written = Form(**form) if isinstance(form, Mapping) else form
    _check(model, out, workers, size, edges, (name, device, ray, resume))
    functions = own_measures.with_plugins(measures)
    if workers > 1 or ray is not None:
        own.check_importable(functions)
    given: Source | None = None
    held: Texts = ()
    if isinstance(texts, str | Path):  # before a model is loaded
        given = of_files(Path(texts), chosen, written, paragraphs=paragraphs)
    elif chosen != Columns() or written is not None or paragraphs:
        raise SettingError("Columns, form and paragraphs are of files: leave them out for texts in memory.")
    else:
        held = texts
    loading = None
    if isinstance(model, str):
        loading = partial(load, model, name=name, device=device)
        loaded = model_of(loading(), tokenizer)
    else:
        loaded = model_of(model, tokenizer)
    source = given or of_texts(held, loaded.info.kind)
    check_columns(loaded, chosen)
    head_ablation.check(loaded, silence, source.rows)
    if isinstance(mean, HeadMeans):
        mean.check(loaded.info.fingerprint)
    count = every = sum(1 for _ in source.rows())
    if unique:
        source = without_repeats(source)
        count = sum(1 for _ in source.rows())
    if count == 0:
        raise TextError("The corpus has no rows.")
    asked = {
        "edges": edges,
        "silence": silence or None,
        "mean": _named(mean) if silence else None,
        "truncate": truncate,
        "values": values or None,
        "unique": unique or None,
        "own": _own(loaded, source.rows(), functions, truncate, out) or None,
        "form": None if written is None or written == Form() else asdict(written),
    }
    kept = {option: value for option, value in asked.items() if value is not None}
    about = {"name": source.name, "digest": source.digest, "rows": every}
    about |= {"repeated": every - count} if unique else {}
    settings = {"columns": asdict(chosen), "paragraphs": paragraphs, "size": size} | kept
    bins = schema.own_bins({"settings": settings})
    silenced = head_ablation.measures(loaded) if silence else ()
    manifest = _manifest(loaded, about, settings, [*functions, *silenced])
    with _folder(out) as path:
        folder = Folder(path, manifest, resume=resume)
        if not folder.has(RANDOM):
            folder.put(RANDOM, work.random(loaded).files())
        todo = jobs(source.rows(), size, edges, silence / count, truncate, values, mean, bins)
        starting = partial(_measuring, loading or (lambda: loaded), functions)  # for workers of their own
        alone = work.Measuring(loaded, cancelled, functions)
        workers_of.measure(folder, alone, starting, todo, count, report, workers=workers, ray=ray)
        made = _added(folder, lambda: jobs(source.rows(), size), source.rows())
        if out is not None:
            return atlas.write(folder.path, made)
        return replace(made, kept=made.kept.read_bytes()) if isinstance(made.kept, Path) else made


def _named(mean: Mean) -> str | None:
    """How a manifest names what silenced heads become."""
    if isinstance(mean, HeadMeans):
        return f"given: {mean.digest}"
    return "text" if mean else None


def _check(
    model: str | Model | nn.Module,
    out: str | Path | None,
    workers: int,
    size: int,
    edges: float | None,
    others: tuple[str | None, str, str | None, bool],
) -> None:
    """Raise SettingError for settings that do not exist, or not together."""
    name, device, ray, resume = others
    if workers < 1 or size < 1:
        raise SettingError("Workers and rows of a part are at least 1.")
    if edges is not None and not 0 < edges < 1:
        raise SettingError("The weight above which edges are kept is between 0 and 1.")
    if out is None and (resume or edges is not None):
        raise SettingError("An atlas in memory cannot be resumed and keeps no single edges: name a folder, out=.")
    if not isinstance(model, str) and (workers > 1 or ray is not None):
        raise SettingError("Several workers each load the model: give its name or its folder, or use one worker.")
    if not isinstance(model, str) and (name is not None or device != "cpu"):
        raise SettingError(
            "A loaded model has its name and device: leave them out, or see bartviz.wrap(..., name=) and model.to()."
        )


@contextmanager
def _folder(out: str | Path | None) -> Iterator[Path]:
    """The folder of a run, for as long as it lasts where the atlas stays in memory."""
    if out is not None:
        yield Path(out)
        return
    with TemporaryDirectory() as folder:
        yield Path(folder)


@torch_defaults()
def of_lines(
    model: Model,
    rows: Sequence[Line | Bad],
    name: str,
    *,
    size: int = SIZE,
    values: bool = False,
    measures: Mapping[str, Own] = MappingProxyType({}),
    report: Report = silent,
    cancelled: Callable[[], bool] = never,
) -> atlas.Atlas:
    """The atlas of rows in memory, which are numbered from 0; nothing is written. ``name`` is that of the corpus;
    ``values`` and
    ``measures`` as for ``corpus``.

    ``report`` is called after every ``size`` rows; what it raises ends the run. ``cancelled`` is looked at after every
    text and every layer. Raises TextError where no row can be used, Cancelled.
    """
    started, done = time.monotonic(), 0
    functions = own_measures.with_plugins(measures)
    about = _own(model, rows, functions)
    settings = {"size": size} | ({"own": about} if about else {})
    bins = schema.own_bins({"settings": settings})
    shards = []
    for job in jobs(iter(rows), size, values=values, own=bins):
        shards.append(work.measured(model, job, cancelled, functions))
        done += job.rows
        report(Progress(done, len(rows), done, time.monotonic() - started))
    manifest = _manifest(model, {"name": name, "rows": len(rows)}, settings, [*functions])
    made = atlas.added(manifest, shards, work.random(model, cancelled), rows)
    parts = [shard.tables[text_values.NAME] for shard in shards if text_values.NAME in shard.tables]
    return replace(made, kept=text_values.joined(parts)) if parts else made


def _measuring(loading: Callable[[], Model], functions: Mapping[str, Own]) -> work.Measuring:
    """What a worker of its own measures with."""
    return work.Measuring(loading(), functions=functions)


def _own(
    model: Model,
    rows: Iterable[Line | Bad],
    functions: Mapping[str, Own],
    truncate: Truncate | None = None,
    out: str | Path | None = None,
) -> dict[str, dict[str, Any]]:
    """What the atlas says of measures of the caller's own; a run that is resumed keeps the bins that it began with."""
    if not functions:
        return {}
    bins = work.probed(model, rows, functions, truncate)
    if out is not None and (Path(out) / MANIFEST).is_file():
        began = schema.own_bins(read_manifest(Path(out)))
        bins = {name: began.get(name, one) for name, one in bins.items()}
    return own.about(functions, bins)


def _manifest(
    model: Model, about: Mapping[str, object], settings: Mapping[str, object], more: Sequence[str] = ()
) -> dict[str, object]:
    measures = {kind: [measure.name for measure in of_text(kind)] + [*more] for kind in depths(model.network)}
    return {"model": asdict(model.info), "corpus": about, "settings": settings, "measures": measures}


def _added(folder: Folder, todo: Callable[[], Iterator[Job]], rows: Iterator[Line | Bad]) -> atlas.Atlas:
    """The atlas of all shards; the values of its texts are in the folder, where they are kept."""
    made = atlas.added(folder.manifest, map(folder.get, todo()), folder.get(RANDOM), rows)
    if folder.manifest["settings"].get("values"):
        kept = folder.path / text_values.FILE
        shards = ((folder.path / text_values.NAME / f"{job.number:06d}.parquet", folder.get(job)) for job in todo())
        text_values.join(kept, ((path, shard.sums) for path, shard in shards if shard.texts))
        made = replace(made, kept=kept)
    began = {} if folder.began == versions() else {"began_with": folder.began}
    return replace(made, description={**made.description, **began})
