"""The tables of an atlas, from the sums over a corpus: means with their intervals, histograms, examples, relations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bartviz.analysis import intervals
from bartviz.analysis.corpus_measures import measure_of
from bartviz.corpus.read import Bad, Line
from bartviz.corpus.relations import Relations
from bartviz.corpus.sums import Bins, Partial, bins_of
from bartviz.record.attention import Kind

if TYPE_CHECKING:
    import pandas as pd

RANDOM = 3  # of the drawn texts are shown as they come, and of the others as many that are nearest to the mean


def _cells(part: Partial) -> dict[str, Any]:
    """The labels of a partial's cells, (C,) each."""
    layers, heads = part.shape
    layer, head, measure = (index.ravel() for index in np.indices((layers, heads, len(part.names))))
    return {"kind": part.kind, "layer": layer, "head": head, "measure": np.array(part.names)[measure]}


def heads(part: Partial) -> pd.DataFrame:
    """The lines of ``Atlas.heads`` for these sums."""
    import pandas as pd

    found = part.means
    measures = [measure_of(name) for name in part.names] * (len(found.n) // len(part.names))
    low, high = intervals.of_means(measures, found.n, found.mean, found.spread, part.highest.values[0])
    nothing = np.full(len(part.names), np.nan)
    even = np.divide(part.even_total, part.even_count, out=nothing, where=part.even_count > 0)
    numbers = {"n": found.n, "mean": found.mean, "sd": found.sd, "low": low, "high": high}
    numbers |= {"even": np.tile(even, len(found.n) // len(even)), "se": found.error, "df": found.free}
    return pd.DataFrame(_cells(part) | numbers)


def histograms(part: Partial, own: Mapping[str, Bins]) -> pd.DataFrame:
    """``own``: the bins of measures of one's own."""
    import pandas as pd

    cell, place = np.nonzero(part.histogram)
    labels = {name: values if isinstance(values, str) else values[cell] for name, values in _cells(part).items()}
    of_names = [bins_of(name, own) for name in part.names]
    starts, widths = (np.array([getattr(one, of) for one in of_names]) for of in ("start", "width"))
    measure = cell % len(part.names)
    bins = starts[measure] + place * widths[measure]
    return pd.DataFrame(labels | {"bin": bins.round(6), "texts": part.histogram[cell, place]})


def examples(part: Partial) -> pd.DataFrame:
    import pandas as pd

    drawn, numbers = part.drawn.values, part.drawn.texts
    left = drawn[RANDOM:]  # (E, C)
    near = np.argsort(np.where(np.isnan(left), np.inf, np.abs(left - part.means.mean)), axis=0, kind="stable")[:RANDOM]
    found = {
        "highest": (part.highest.values, part.highest.texts),
        "lowest": (-part.lowest.values, part.lowest.texts),
        "random": (drawn[:RANDOM], numbers[:RANDOM]),
        "typical": (np.take_along_axis(left, near, 0), np.take_along_axis(numbers[RANDOM:], near, 0)),
    }
    tables = []
    for which, (values, texts) in found.items():
        rank, cell = np.nonzero(np.isfinite(values))
        labels = {name: label if isinstance(label, str) else label[cell] for name, label in _cells(part).items()}
        shown = {"which": which, "rank": rank + 1, "value": values[rank, cell], "number": texts[rank, cell]}
        tables.append(pd.DataFrame(labels | shown))
    return pd.concat(tables, ignore_index=True)


def texts(rows: Iterable[Line | Bad], wanted: frozenset[int]) -> pd.DataFrame:
    import pandas as pd

    columns = ["number", "file", "line", "text", "pair", "target"]
    lines = [[getattr(row, name) for name in columns] for row in rows if row.number in wanted and isinstance(row, Line)]
    return pd.DataFrame(lines, columns=columns)


def relations(found: Mapping[Kind, Relations]) -> pd.DataFrame:
    import pandas as pd

    def usual(arcs: Counter[int]) -> float:
        return arcs.most_common(1)[0][1] / arcs.total()

    rows = [
        (kind, layer, head, name, arcs.total(), *(of.followed[name][:, layer, head] / arcs.total()), usual(arcs))
        for kind, of in found.items()
        for name, arcs in sorted(of.distances.items(), key=lambda one: (-one[1].total(), one[0]))
        for layer, head in np.ndindex(of.followed[name].shape[1:])
    ]
    shares = ("to_head", "to_dependent", "one_distance")
    types = {"kind": str, "layer": int, "head": int, "relation": str, "arcs": int} | dict.fromkeys(shares, float)
    return pd.DataFrame(rows, columns=list(types)).astype(types)
