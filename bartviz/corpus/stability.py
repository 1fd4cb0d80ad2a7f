"""How a mean and a role would change with another sample of the corpus: parts of the run are drawn again.

Rows of a part stand next to each other in the corpus, so rows that repeat each other are drawn together, and the
intervals do not take them as independent. Letters in shapes: P parts, C cells, R resamples.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bartviz.analysis import intervals
from bartviz.analysis.corpus_measures import measure_of
from bartviz.corpus.run_folder import FOLDER, SUFFIX, read_manifest, stored
from bartviz.corpus.sums import Doubles, Whole
from bartviz.errors import SettingError
from bartviz.record.attention import KINDS

if TYPE_CHECKING:
    import pandas as pd

LEAST = 10  # parts, below which resamples say little
RESAMPLES = 1_000


def stability(path: Path, *, resamples: int = RESAMPLES, seed: int = 0) -> pd.DataFrame:
    """The intervals of all means by a bootstrap over the parts of a run, from the folder that keeps its shards.

    Columns: kind, layer, head, measure, mean, and the 95% interval of the resampled means from low to high. The same
    seed gives the same numbers. Raises SettingError for fewer than ``LEAST`` parts.
    """
    import pandas as pd

    manifest = read_manifest(path) if (path / FOLDER).is_dir() else {}
    shards = [stored(file, manifest) for file in sorted((path / FOLDER).glob(f"[0-9]*{SUFFIX}"))]
    shards = [shard for shard in shards if shard.texts]
    if len(shards) < LEAST:
        raise SettingError(
            f"Stability needs {LEAST} parts of a run, and {path.name} keeps {len(shards)}: measure more texts, "
            "or smaller parts."
        )
    draws = np.random.default_rng(seed).multinomial(len(shards), np.full(len(shards), 1 / len(shards)), resamples)
    tables: list[pd.DataFrame] = []
    for kind in KINDS:
        parts = [shard.sums[kind] for shard in shards if kind in shard.sums]
        if not parts:
            continue
        count, total = np.stack([part.count for part in parts]), np.stack([part.total for part in parts])  # (P, C)
        means = _means(draws @ count, draws @ total)  # (R, C)
        (layers, heads), names = parts[0].shape, parts[0].names
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
        tables.append(pd.DataFrame({"kind": kind} | labels | numbers))
    return pd.concat(tables, ignore_index=True)


def _means(count: Whole, total: Doubles) -> Doubles:
    """NaN where nothing was counted."""
    means: Doubles = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    return means
