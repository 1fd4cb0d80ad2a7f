"""How a mean and a role would change with another sample of the corpus: parts of the run, or blocks of rows, are drawn
again.

Rows of a part stand next to each other in the corpus, so rows that repeat each other are drawn together, and the
intervals do not take them as independent. Letters in shapes: P parts or blocks, N texts, C cells, R resamples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bartviz.analysis import intervals
from bartviz.analysis.corpus_measures import measure_of
from bartviz.arrays import Floats
from bartviz.corpus.run_folder import FOLDER, SUFFIX, read_manifest, stored
from bartviz.corpus.sums import Doubles, Whole
from bartviz.errors import SettingError
from bartviz.record.attention import KINDS, Kind

if TYPE_CHECKING:
    import pandas as pd

LEAST = 10  # parts, below which resamples say little
RESAMPLES = 1_000


@dataclass(frozen=True, eq=False)
class Blocks:
    """Of one kind: how many values each part has of a cell, and their total, (P, C) each."""

    kind: Kind
    shape: tuple[int, int]
    names: tuple[str, ...]
    count: Whole
    total: Doubles


def stability(path: Path, *, resamples: int = RESAMPLES, seed: int = 0) -> pd.DataFrame:
    """The intervals of all means by a bootstrap over the parts of a run, from the folder that keeps its shards.

    Columns: kind, layer, head, measure, mean, and the 95% interval of the resampled means from low to high. The same
    seed gives the same numbers. Raises SettingError for fewer than ``LEAST`` parts.
    """
    manifest = read_manifest(path) if (path / FOLDER).is_dir() else {}
    shards = [stored(file, manifest) for file in sorted((path / FOLDER).glob(f"[0-9]*{SUFFIX}"))]
    shards = [shard for shard in shards if shard.texts]
    if len(shards) < LEAST:
        raise SettingError(
            f"Stability needs {LEAST} parts of a run, and {path.name} keeps {len(shards)}: measure more texts, "
            "or smaller parts; or keep the values of each text (--values) and choose smaller blocks (--size)."
        )
    blocks = []
    for kind in KINDS:
        parts = [shard.sums[kind] for shard in shards if kind in shard.sums]
        if parts:
            count, total = np.stack([part.count for part in parts]), np.stack([part.total for part in parts])
            blocks.append(Blocks(kind, parts[0].shape, parts[0].names, count, total))
    return resampled(blocks, resamples=resamples, seed=seed)


def text_blocks(kind: Kind, names: Sequence[str], size: int, numbers: Whole, values: Sequence[Floats]) -> Blocks:
    """Blocks of ``size`` rows, from the values (N, L, H) of each measure and the rows (N,) of the texts."""
    flat = np.stack(values, axis=-1).astype(np.float64)  # (N, L, H, M)
    known = np.isfinite(flat).reshape(len(flat), -1)
    flat = np.where(known, flat.reshape(len(flat), -1), 0.0)
    first = np.unique(numbers // size, return_index=True)[1]
    count = np.add.reduceat(known.astype(np.int64), first, axis=0)
    shape = values[0].shape[1], values[0].shape[2]
    return Blocks(kind, shape, tuple(names), count, np.add.reduceat(flat, first, axis=0))


def resampled(blocks: Sequence[Blocks], *, resamples: int = RESAMPLES, seed: int = 0) -> pd.DataFrame:
    """The table of ``stability`` by a bootstrap over blocks. Raises SettingError for fewer than ``LEAST``."""
    import pandas as pd

    number = max(len(one.count) for one in blocks)
    if number < LEAST:
        raise SettingError(f"Stability needs {LEAST} blocks, and the texts make {number}: choose smaller ones.")
    draws = np.random.default_rng(seed).multinomial(number, np.full(number, 1 / number), resamples)
    tables: list[pd.DataFrame] = []
    for one in blocks:
        count, total, names = one.count, one.total, one.names  # (P, C)
        means = _means(draws[:, : len(count)] @ count, draws[:, : len(count)] @ total)  # (R, C)
        layers, heads = one.shape
        layer, head, measure = (index.ravel() for index in np.indices((layers, heads, len(names))))
        defined = count.any(axis=0)
        mean = _means(count.sum(axis=0), total.sum(axis=0))
        ends = np.nanquantile(means[:, defined], (0.025, 0.975), axis=0)
        # resampled means of P parts spread less than means of other corpora do: as in a t interval from P values
        known = (count > 0).sum(axis=0)[defined]
        wider = intervals.student(known) / intervals.NORMAL * np.sqrt(known / np.maximum(known - 1, 1))
        low, high = mean[defined] + (ends - mean[defined]) * wider
        highest = np.tile([measure_of(name).highest or np.inf for name in names], layers * heads)[defined]
        below = [-np.inf if measure_of(name).lowest is None else 0.0 for name in names]
        lowest = np.tile(below, layers * heads)[defined]
        numbers = {"mean": mean[defined], "low": np.maximum(low, lowest), "high": np.minimum(high, highest)}
        labels = {"layer": layer[defined], "head": head[defined], "measure": np.array(names)[measure[defined]]}
        tables.append(pd.DataFrame({"kind": one.kind} | labels | numbers))
    return pd.concat(tables, ignore_index=True)


def _means(count: Whole, total: Doubles) -> Doubles:
    """NaN where nothing was counted."""
    means: Doubles = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    return means
