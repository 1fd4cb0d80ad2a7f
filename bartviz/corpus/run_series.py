"""The checkpoints of a training over the same texts: an atlas for each, which together are a series.

A run that was stopped is resumed: moments that are finished are compared and kept, the one that was not is finished.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from multiprocessing.queues import SimpleQueue
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bartviz.analysis.own_measures import Own
from bartviz.callbacks import never, silent
from bartviz.corpus import own, replay, run_replay
from bartviz.corpus import series as series_of
from bartviz.corpus import workers as workers_of
from bartviz.corpus.read import Columns, Form
from bartviz.corpus.run import SIZE, corpus
from bartviz.corpus.run_folder import write as write_file
from bartviz.corpus.series import Series, name_of
from bartviz.corpus.source import Texts
from bartviz.corpus.workers import Progress, Report
from bartviz.errors import BartvizError, Cancelled, SettingError
from bartviz.models.load import load
from bartviz.models.model import Model
from bartviz.safety import files
from bartviz.text.clean import Truncate

CONFIG = "config.json"
_STEP = re.compile(r"(\d+)$")


def series(
    texts: str | Path | Texts,
    checkpoints: Sequence[str | Path],
    out: str | Path,
    *,
    steps: Sequence[int] | None = None,
    columns: Columns | Mapping[str, str] | None = None,
    form: Form | Mapping[str, Any] | None = None,
    paragraphs: bool = False,
    device: str = "cpu",
    workers: int = 1,
    ray: str | None = None,
    resume: bool = False,
    truncate: Truncate | None = None,
    values: bool = True,
    measures: Mapping[str, Own] = MappingProxyType({}),
    unique: bool = False,
    examples: Texts | None = None,
    curves: Mapping[str, Sequence[tuple[float, float]]] | None = None,
    size: int = SIZE,
    report: Report = silent,
    cancelled: Callable[[], bool] = never,
) -> Series:
    """Measure every head at each moment of a training, over the same texts.

    checkpoints: the folders of the models of one training; entries without a config.json are left out, so that all that
    a training has written may be given (``Path("run").iterdir()``). steps: their steps; None: the number that their
    names end with, as in "checkpoint-500" or "000128".
    out: the folder of the series, which a stopped run goes on from. values: keep the value of each text, which change
    points need. examples: texts whose maps are kept at every moment, and what the model writes, all of them; None: the
    first three that are short. curves: what else was measured in the training, (step, value) by name, such as the loss.
    Both are in ``replay.zip`` of the folder, which the page *How heads are born* shows.
    texts and the others: as for ``bartviz.corpus``, which measures each of the checkpoints; an encoder-decoder needs
    given outputs, because what it writes by itself changes from moment to moment.
    workers: each measures whole checkpoints, side by side; more workers than checkpoints, or those of Ray, share the
    parts of one checkpoint after the other.
    Raises SettingError for checkpoints without a step, of another shape or with another vocabulary, named; and what
    ``bartviz.corpus`` raises.

    >>> series = bartviz.series([("It is late.", "Es ist spät.")], ["run/step-0", "run/step-100"], "moments")
    >>> series.steps
    (0, 100)
    """
    moments = ordered(checkpoints, steps)
    _check_shapes(moments)
    held = texts if isinstance(texts, str | Path) else list(texts)
    folder = Path(out)
    _check_folder(folder, moments, resume)
    folder.mkdir(parents=True, exist_ok=True)
    beside = ray is None and 1 < workers <= len(moments)  # whole moments side by side
    first = _loaded(next(iter(moments.values())), device)
    _check_outputs(first, held, columns)
    shown = (
        run_replay.pairs(held, columns, form, first) if examples is None else run_replay.fitting(list(examples), first)
    )
    options: dict[str, Any] = {
        "columns": columns,
        "form": form,
        "paragraphs": paragraphs,
        "truncate": truncate,
        "values": values,
        "measures": dict(measures),
        "unique": unique,
        "size": size,
        "ray": ray,
        "workers": 1 if beside else workers,
    }
    moment = _Moment(held, folder, device, first.info.name, first.tokenizer.get_vocab(), shown, options)
    progress = _Whole(report, len(moments))
    if beside:
        own.check_importable(measures)
        measured = _side_by_side(moment, moments, workers, progress)
    else:
        measured = ((step, moment.measure(step, path, progress.hear, cancelled)) for step, path in moments.items())
    seen: list[list[run_replay.Seen]] = []
    for step, then in measured:
        seen.append(then)
        progress.end(step)
    made = series_of.write(folder, list(moments))
    found = replay.of_series(made, run_replay.joined(shown, seen), curves)
    write_file(folder / replay.FILE, found.pack())
    return made


def ordered(checkpoints: Sequence[str | Path], steps: Sequence[int] | None = None) -> dict[int, Path]:
    """The checkpoints by their steps, ascending. Raises SettingError for fewer than two, and for steps that are
    missing or not different."""
    given = [Path(checkpoint) for checkpoint in checkpoints]
    paths = [path for path in given if (path / CONFIG).is_file()]
    if len(paths) < 2:
        raise SettingError(
            f"{len(paths)} of {len(given)} checkpoints are folders with a {CONFIG}. A series needs at least two."
        )
    if steps is not None and len(steps) != len(paths):
        raise SettingError(f"There are {len(steps)} steps for {len(paths)} checkpoints: give one for each.")
    found: dict[int, Path] = {}
    for path, step in zip(paths, steps if steps is not None else map(_step, paths), strict=True):
        if step in found:
            raise SettingError(f"The checkpoints {found[step].name} and {path.name} have the same step, {step:,}.")
        if step < 0:
            raise SettingError(f"The step of {path.name} is {step:,}: it must be at least 0.")
        found[step] = path
    return dict(sorted(found.items()))


def left_out(checkpoints: Sequence[str | Path]) -> list[str]:
    """The names of what was given and is no checkpoint."""
    return [Path(path).name for path in checkpoints if not (Path(path) / CONFIG).is_file()]


def _step(path: Path) -> int:
    found = _STEP.search(path.name)
    if found is None:
        raise SettingError(
            f"The name of the checkpoint {path.name} does not end with its step, as checkpoint-500 does: give the step "
            "of each, with --steps or steps=."
        )
    return int(found[1])


def _check_shapes(moments: Mapping[int, Path]) -> None:
    """Raise SettingError for a checkpoint whose sizes are not those of the first, before any is measured."""
    first, *others = moments.values()
    expected = _sizes(first)
    for path in others:
        found = _sizes(path)
        for name in sorted(expected.keys() | found.keys()):
            if expected.get(name) != found.get(name):
                raise SettingError(
                    f"The checkpoints are not of one training: {name} is {expected.get(name)} in {first.name}, and "
                    f"{found.get(name)} in {path.name}."
                )


def _sizes(path: Path) -> dict[str, object]:
    """The model type and all whole numbers of a configuration."""
    try:
        read = json.loads(files.read(path / CONFIG, 1 << 20))
    except (OSError, ValueError, RecursionError):
        read = None
    if not isinstance(read, dict):
        raise SettingError(f"The {CONFIG} of the checkpoint {path.name} cannot be read.")
    return {name: value for name, value in read.items() if name == "model_type" or type(value) is int}


def _check_folder(folder: Path, moments: Mapping[int, Path], resume: bool) -> None:
    """Raise SettingError for a folder with something else, or with this run if it is not resumed."""
    there = {entry.name for entry in folder.iterdir()} if folder.is_dir() else set()
    if not there:
        return
    known = {*map(name_of, moments), series_of.DESCRIPTION, replay.FILE}
    if others := sorted(there - known):
        raise SettingError(f"{folder.name} contains something else, such as {others[0]}: choose a new folder.")
    if not resume:
        raise SettingError(f"{folder.name} already contains this run: add --resume to finish it, or choose a new one.")


def _loaded(path: Path, device: str) -> Model:
    try:
        return load(path, name=path.name, device=device)
    except Cancelled:
        raise
    except BartvizError as error:
        raise SettingError(f"The checkpoint {path.name} cannot be used. {error}") from error


def _check_outputs(
    model: Model, texts: str | Path | Sequence[object], columns: Columns | Mapping[str, str] | None
) -> None:
    """Raise SettingError for texts that an encoder-decoder would have to complete by itself."""
    if model.info.kind != "encoder-decoder":
        return
    if isinstance(texts, str | Path):
        chosen = Columns(**columns) if isinstance(columns, Mapping) else columns or Columns()
        given = chosen.target is not None
    else:
        given = not any(isinstance(text, str) for text in texts)
    if not given:
        raise SettingError(
            "A series of an encoder-decoder needs given outputs, a column of the file (target) or pairs: what it "
            "writes by itself changes from moment to moment."
        )


@dataclass(frozen=True)
class _Moment:
    """What measures the model of a moment; each of several workers has it."""

    texts: str | Path | Sequence[str | tuple[str, str]]
    folder: Path
    device: str
    first: str  # the name of the first checkpoint
    vocabulary: Mapping[str, int]  # of the first checkpoint
    shown: Sequence[run_replay.Pair]
    options: Mapping[str, Any]

    def measure(
        self, step: int, path: Path, hear: Callable[[int, Progress], None], cancelled: Callable[[], bool] = never
    ) -> list[run_replay.Seen]:
        """Write the atlas of a moment, and return its examples. hear: told the step and how far it is."""
        model = _loaded(path, self.device)
        if model.tokenizer.get_vocab() != self.vocabulary:
            raise SettingError(
                f"The checkpoint {path.name} has another vocabulary than {self.first}: its tokens would be others."
            )
        seen = [run_replay.seen(model, *pair) for pair in self.shown]
        out = self.folder / name_of(step)
        alone = self.options["workers"] == 1 and self.options["ray"] is None
        corpus(
            self.texts,
            model if alone else str(path),
            out,
            name=None if alone else path.name,
            device="cpu" if alone else self.device,
            resume=out.exists(),
            report=partial(hear, step),
            cancelled=cancelled,
            **self.options,
        )
        return seen


def _side_by_side(
    moment: _Moment, moments: Mapping[int, Path], workers: int, progress: _Whole
) -> Iterator[tuple[int, list[run_replay.Seen]]]:
    """As many moments at a time as there are workers, each of which imports and loads for itself."""
    told: SimpleQueue[tuple[int, Progress]] = get_context("spawn").SimpleQueue()

    def hear() -> None:
        while not told.empty():
            progress.hear(*told.get())

    for (step, _), seen in workers_of.each(partial(_measuring, moment, told), moments.items(), workers, hear):
        hear()
        yield step, seen


def _measuring(
    moment: _Moment, told: SimpleQueue[tuple[int, Progress]]
) -> Callable[[tuple[int, Path]], list[run_replay.Seen]]:
    return lambda one: moment.measure(*one, lambda *heard: told.put(heard))


@dataclass
class _Whole:
    """The progress of the moments as that of the series."""

    report: Report
    count: int
    started: float = field(default_factory=time.monotonic)
    heard: dict[int, Progress] = field(default_factory=dict)
    ended: set[int] = field(default_factory=set)

    def hear(self, step: int, progress: Progress) -> None:
        self.heard[step] = progress
        self._tell()

    def end(self, step: int) -> None:
        """A moment is finished; one that was measured before has reported nothing."""
        self.ended.add(step)
        if self.heard and step not in self.heard:
            self._tell()

    def _tell(self) -> None:
        each = next(iter(self.heard.values())).all
        rows = len(self.ended) * each + sum(one.rows for step, one in self.heard.items() if step not in self.ended)
        fresh = sum(one.fresh for one in self.heard.values())
        self.report(Progress(rows, self.count * each, fresh, time.monotonic() - self.started))
