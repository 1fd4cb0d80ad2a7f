"""Which methods name the words that a model needs, over a file of texts: parts are measured by one process or several,
and a run that was stopped is resumed.

Letters in shapes: M methods, O operators, n texts.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bartviz.analysis.intervals import Doubles
from bartviz.analysis.removals import MEASURES
from bartviz.attribution.faithfulness import COLUMNS, FEWEST_TEXTS, Trial, table
from bartviz.attribution.removal import Operator
from bartviz.callbacks import never, silent
from bartviz.corpus import read, run_folder
from bartviz.corpus import workers as workers_of
from bartviz.corpus.read import Bad, Form, Line
from bartviz.corpus.run_folder import FOLDER, Files, Job, Store, jobs
from bartviz.corpus.workers import Report
from bartviz.errors import SettingError, TextError
from bartviz.models.load import load
from bartviz.models.model import Model
from bartviz.safety.torch_defaults import torch_defaults

if TYPE_CHECKING:
    import pandas as pd

SIZE = 20  # rows of a part
ORDERS = 8  # random orders of each text
POOL = 10_000  # rows whose words "exchange" puts in
CSV, PARQUET = "faithfulness.csv", "faithfulness.parquet"
HALVES = ("one half", "other half")  # columns
UNREADABLE, UNFIT, SHORT = "not readable", "too long for the model, or empty", "too few words"
_GAPS = {np.inf: UNFIT, -np.inf: SHORT}  # what stands in place of the numbers of a text that has none
Loading = Callable[[], Model]


@dataclass(frozen=True)
class Verdicts:
    """What ``why`` has found over ``texts`` texts; ``left_out`` rows are not among them, by ``reasons``.

    ``refused``: by how many of the texts each method gave no numbers, of those that refused any, such as integrated
    gradients that do not become complete; the lines of the table have their texts without them.
    ``table``: that of ``bartviz.faithfulness``, and the verdicts of each half of the texts alone, every second one.
    ``agree``: the share of lines for which the halves have the same verdict; None where a half has fewer than 5 texts.
    """

    table: pd.DataFrame
    texts: int
    reasons: Mapping[str, int]
    refused: Mapping[str, int]
    agree: float | None

    @property
    def left_out(self) -> int:
        return sum(self.reasons.values())


@torch_defaults()
def why(
    path: str | Path,
    model: str,
    out: str | Path,
    *,
    column: str | None = None,
    form: Form | None = None,
    paragraphs: bool = False,
    name: str | None = None,
    device: str = "cpu",
    methods: Sequence[str] | None = None,
    operators: Sequence[Operator] | None = None,
    filler: str | None = None,
    texts: int | None = None,
    orders: int = ORDERS,
    seed: int = 0,
    workers: int = 1,
    ray: str | None = None,
    resume: bool = False,
    size: int = SIZE,
    report: Report = silent,
) -> Verdicts:
    """Judge methods of attribution over the texts of a file, as ``bartviz.faithfulness`` does, and write its table to
    the folder ``out`` (``faithfulness.csv``, ``faithfulness.parquet``).

    model: a name as ``bartviz.load`` accepts it; each of the ``workers`` processes loads it once. methods, operators:
    their names; all if None, but fill-in only where a model fills gaps: the ``filler``, by its name, or the one that
    ``bartviz.faithfulness`` takes. "exchange" puts in words of the first 10,000 rows.
    texts: how many rows are read, the first ones; all if None. A run that is resumed may have more of them.
    orders: random ones of each text; give more where there are few texts.
    column: of the texts. form, paragraphs, name, device, ray, resume, size and report are those of
    ``bartviz.corpus.run.corpus``.

    The table is the same however many workers there are and whenever the run was stopped. Rows that cannot be read, and
    texts that are too long or have fewer than 3 words (4 for a model that fills gaps), are left out and counted.
    Raises TextError for fewer than 5 texts, SettingError, ModelError, PackageError without Ray, Cancelled where a
    worker is stopped.
    """
    source, chosen = Path(path), read.Columns(column)
    if workers < 1 or size < 1 or (texts is not None and texts < 1):
        raise SettingError("Workers, texts and rows of a part are at least 1.")

    def rows() -> Iterator[Line | Bad]:
        return islice(read.lines(source, chosen, form, paragraphs=paragraphs), texts)

    read.check(source, chosen, form)  # before a model is loaded
    first = islice(read.lines(source, chosen, form, paragraphs=paragraphs), POOL)  # whatever ``texts`` is
    pool = [row.text for row in first if isinstance(row, Line)]
    loading = partial(load, model, name=name, device=device)
    filling = None if filler is None else partial(load, filler, device=device)
    starting = partial(_judging, loading, filling, pool, methods, operators, orders, seed)
    judging = starting()
    trial, count = judging.trial, sum(1 for _ in rows())
    folder = _Folder(
        Path(out),
        {
            "model": asdict(trial.model.info),
            "corpus": {"name": source.name.encode("utf-8", "replace").decode(), "digest": read.digest(source)},
            "settings": {
                "column": column,
                "form": None if form is None else asdict(form),
                "paragraphs": paragraphs,
                "methods": [*trial.methods],
                "operators": [*trial.operators],
                "filler": None if trial.filler is None else asdict(trial.filler.info),
                "orders": trial.orders,
                "seed": seed,
                "size": size,
            },
        },
        resume=resume,
        trial=trial,
    )
    workers_of.measure(folder, judging, starting, jobs(rows(), size), count, report, workers=workers, ray=ray)
    found, missing = list[Doubles](), Counter[str]()
    for job in jobs(rows(), size):
        missing[UNREADABLE] += len(job.bad)
        for one in folder.get(job):
            if (why_not := _GAPS.get(one.flat[0])) is None:
                found.append(one)
            else:
                missing[why_not] += 1
    lines = table(tuple(trial.methods), trial.operators, found, seed)
    agree = None
    if len(found) >= 2 * FEWEST_TEXTS:
        for half, start in zip(HALVES, (0, 1), strict=True):
            lines[half] = table(tuple(trial.methods), trial.operators, found[start::2], seed).verdict
        agree = float((lines[HALVES[0]] == lines[HALVES[1]]).mean())
    run_folder.write(folder.path / CSV, lines.to_csv(index=False).encode())
    packed = io.BytesIO()
    lines.to_parquet(packed, index=False)
    run_folder.write(folder.path / PARQUET, packed.getvalue())
    refusals = np.isnan(found).any(axis=(2, 3, 4)).sum(axis=0)  # (M,)
    refused = dict(zip(trial.methods, refusals.tolist(), strict=True))
    return Verdicts(lines, len(found), +missing, {name: times for name, times in refused.items() if times}, agree)


def _judging(
    loading: Loading,
    filling: Loading | None,
    pool: Sequence[str],
    methods: Sequence[str] | None,
    operators: Sequence[Operator] | None,
    orders: int,
    seed: int,
) -> _Judging:
    """What a worker of its own measures with."""
    filler = None if filling is None else filling()
    return _Judging(Trial.of(loading(), pool, methods, operators, orders=orders, seed=seed, filler=filler))


@dataclass(frozen=True)
class _Judging:
    """What judges the methods on parts of a corpus."""

    trial: Trial

    @property
    def model(self) -> Model:
        return self.trial.model

    def files(self, job: Job) -> Files:
        """The numbers of a part, (n, M, O, measures, COLUMNS); for a text that is left out those of ``_GAPS``."""
        found = np.full((len(job.lines), *_shape(self.trial)), np.inf)
        for index, line in enumerate(job.lines):
            try:
                one = self.trial.measured(line.number, line.text, never)
            except TextError:
                continue
            found[index] = -np.inf if one is None else one
        return {FOLDER: found.astype("<f8").tobytes()}


class _Folder(Store):
    """That of a run of ``why``."""

    def __init__(self, path: Path, manifest: dict[str, object], *, resume: bool, trial: Trial) -> None:
        super().__init__(path, manifest, resume=resume)
        self._shape = _shape(trial)

    def expect(self, job: Job) -> None:
        """Raise SettingError if the shard of a part is damaged, or of something else."""
        self.get(job)

    def get(self, job: Job) -> Doubles:
        """(n, M, O, measures, COLUMNS) of a part. Raises SettingError if it is damaged, or of something else."""
        held = self.content(job)
        shape = len(job.lines), *self._shape
        if len(held) != 8 * np.prod(shape):
            raise self.foreign(job)
        return np.frombuffer(held, "<f8").astype(np.float64).reshape(shape)


def _shape(trial: Trial) -> tuple[int, int, int, int]:
    return len(trial.methods), len(trial.operators), len(MEASURES), len(COLUMNS)
