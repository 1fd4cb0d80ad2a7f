"""A series: the same texts measured at several moments of a training, one atlas for each. Opens without torch.

A folder with ``series.json`` and the atlas of each moment in a folder that is named by its step.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bartviz import hooks
from bartviz.analysis.change_points import LEAST, ChangePoints, change_points
from bartviz.corpus.atlas import Atlas, open_atlas
from bartviz.corpus.run_folder import write as write_file
from bartviz.errors import SettingError, choices
from bartviz.record.attention import Kind
from bartviz.record.record import PAGES
from bartviz.safety import files

if TYPE_CHECKING:
    import pandas as pd

DESCRIPTION = "series.json"
FORMAT = 1
LARGEST = 1 << 20  # bytes of the description
MOST = 1_000  # moments
CELL = ["kind", "layer", "head", "measure"]


@dataclass(frozen=True)
class Series:
    """The atlases of a training: ``steps`` (T,) ascending, and for each the atlas over the same texts.

    >>> series = bartviz.series([("It is late.", "Es ist spät.")], ["run/step-0", "run/step-100"], "moments")
    >>> line = series.heads.query("kind == 'cross' and layer == 1 and head == 0 and measure == 'alignment'")
    >>> line["step"].tolist()  # a curve: the mean and its interval at each moment
    [0, 100]
    """

    path: Path
    steps: tuple[int, ...]
    atlases: Sequence[Atlas]

    def __repr__(self) -> str:
        of = self.atlases[-1].description
        return f"<Series of {len(self.steps)} moments: {of['texts']:,} texts of {of['corpus']['name']}>"

    @cached_property
    def heads(self) -> pd.DataFrame:
        """The curves: a line for each step, head and measure, with the columns of ``Atlas.heads`` behind ``step``."""
        import pandas as pd

        return pd.concat(
            [atlas.heads.assign(step=step) for step, atlas in zip(self.steps, self.atlases, strict=True)],
            ignore_index=True,
        )[["step", *self.atlases[0].heads.columns]]

    def to_dataframe(self) -> pd.DataFrame:
        """The means as a table: a line for each step and head, a column for each measure; NaN where undefined."""
        wide = self.heads.pivot_table(
            index=["step", *CELL[:3]], columns="measure", values="mean", dropna=False, observed=True
        ).dropna(how="all")
        wide.columns.name = None
        return wide.reset_index()

    def change_points(
        self, measure: str, kind: Kind | None = None, *, least: float = LEAST, resamples: int = 1_000, seed: int = 0
    ) -> pd.DataFrame:
        """When each head changes: the step at which the mean of a measure has first passed half of its whole change,
        and its 95% interval, as ``analysis.change_points`` defines and computes them.

        kind: "encoder", "decoder" or "cross"; None: all that have the measure. least: the smallest change that counts.
        Columns: kind, layer, head, measure, n texts, step, low, high (NaN where there is none), the change from the
        first moment to the last, its interval from change_low to change_high, and the reason why there is none.
        Raises SettingError for a series without the values of each text, which ``values=True`` or ``--values`` keeps,
        or a measure that has none.
        """
        import pandas as pd

        last = self.atlases[-1]
        having = [one for one in last.kinds if measure in last.measures_with_values(one)]
        if not having or kind not in (None, *having):
            known = {name for one in last.kinds if kind in (None, one) for name in last.measures_with_values(one)}
            raise SettingError(f"There are no values of {measure} for each text: choose {choices(sorted(known))}.")
        tables = []
        for one in having if kind is None else [kind]:
            found, shape = self._change_points(one, measure, least, resamples, seed)
            layer, head = (places.ravel() for places in np.indices(shape))
            labels = {"kind": one, "layer": layer, "head": head, "measure": measure}
            tables.append(pd.DataFrame(labels | vars(found)))
        return pd.concat(tables, ignore_index=True)

    def _change_points(
        self, kind: Kind, measure: str, least: float, resamples: int, seed: int
    ) -> tuple[ChangePoints, tuple[int, int]]:
        values = np.stack([atlas.values(kind, measure) for atlas in self.atlases])  # (T, N, L, H)
        moments, texts, layers, heads = values.shape
        flat = values.reshape(moments, texts, layers * heads)
        return change_points(flat, self.steps, least=least, resamples=resamples, seed=seed), (layers, heads)

    def roles(self, *, least: float = LEAST) -> pd.DataFrame:
        """The heads that have a role at the last moment, and when they found it: the columns of ``Atlas.roles``, then
        step, step_low and step_high, the change point of the measure that names the role; NaN where there is none, or
        where the measure has no values of texts. In the order of the steps.

        Raises SettingError for a series without the values of each text.
        """
        import pandas as pd

        last = self.atlases[-1]
        named = last.roles
        kept = {(kind, measure) for kind in last.kinds for measure in last.measures_with_values(kind)}
        wanted = sorted({*zip(named["kind"], named["measure"], strict=True)} & kept)
        tables = [self.change_points(measure, kind, least=least) for kind, measure in wanted]
        if not tables:
            return named.assign(step=np.nan, step_low=np.nan, step_high=np.nan)
        points = pd.concat(tables, ignore_index=True)[[*CELL, "step", "low", "high"]]
        points = points.rename(columns={"low": "step_low", "high": "step_high"})
        return named.merge(points, on=CELL, how="left").sort_values("step", kind="stable", ignore_index=True)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the training as one HTML file that any browser shows without a network: a slider over the moments, the
        curves of all heads, and the maps of the examples, as on the page *How heads are born*.

        Raises SettingError for a name that does not end in .html, and for a series whose ``replay.zip`` is missing or
        damaged; OSError.

        >>> bartviz.open_series("moments").save("born.html")
        """
        from bartviz.corpus import replay

        if Path(path).suffix.lower() not in PAGES:
            raise SettingError('A series is saved as an HTML file: choose a name that ends in ".html".')
        hooks.trainings().save(replay.open_replay(self.path / replay.FILE), path)


def open_series(path: str | Path) -> Series:
    """The series in a folder that ``bartviz corpus --checkpoints`` has written. Needs no torch.

    Raises SettingError for another folder, or a run that is not finished; PackageError without pyarrow.

    >>> _ = bartviz.series([("It is late.", "Es ist spät.")], ["run/step-0", "run/step-100"], "moments")
    >>> bartviz.open_series("moments").steps
    (0, 100)
    """
    folder = Path(path)
    try:
        described = json.loads(files.read(folder / DESCRIPTION, LARGEST))
    except OSError as error:
        started = folder.is_dir() and any((one / "run.json").is_file() for one in folder.iterdir())
        advice = "its run is not finished: add --resume." if started else "bartviz corpus --checkpoints writes one."
        raise SettingError(f"There is no series in {folder.name}: {advice}") from error
    except (ValueError, RecursionError):
        described = None
    steps = steps_of(described)
    if steps is None:
        raise SettingError(f"The series in {folder.name} is damaged, or was made by another version of bartviz.")
    atlases = [open_atlas(folder / name_of(step)) for step in steps]
    if len({(atlas.description["corpus"].get("digest"), atlas.description["texts"]) for atlas in atlases}) > 1:
        raise SettingError(f"The atlases in {folder.name} are not over the same texts: create the series again.")
    return Series(folder, steps, atlases)


def steps_of(described: Any) -> tuple[int, ...] | None:
    """The steps of a description; None for what is none."""
    steps = described.get("steps") if isinstance(described, Mapping) and described.get("format") == FORMAT else None
    if not isinstance(steps, list) or not 0 < len(steps) <= MOST:
        return None
    if not all(type(step) is int and 0 <= step < 1 << 53 for step in steps) or sorted({*steps}) != steps:
        return None
    return tuple(steps)


def name_of(step: int) -> str:
    """The folder of a moment: names in the order of the steps."""
    return f"{step:09d}"


def write(folder: Path, steps: Sequence[int]) -> Series:
    """Write the description of a series whose atlases are there; the series."""
    write_file(folder / DESCRIPTION, json.dumps({"format": FORMAT, "steps": [*steps]}, indent=1).encode())
    return open_series(folder)
