"""The roles of heads over a corpus: named as on one text (``naming``), but only if the interval of the mean passes.

A head has a role if the lower end of its 95% interval is at least a threshold, and clearly above even attention.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from bartviz.analysis.corpus_measures import RANDOM
from bartviz.analysis.head_names import ALIGNING, NAMES, THRESHOLD, WITH_PART, WRONG, worth
from bartviz.analysis.intervals import FEW
from bartviz.language import _
from bartviz.patterns.named import NAMED

if TYPE_CHECKING:
    import pandas as pd

_TITLES: Mapping[str, str] = {**NAMES, **{name: measure.named for name, measure in RANDOM.items()}}


def _aligning(heads: pd.DataFrame) -> dict[tuple[object, ...], str]:
    """The heads that alignments by hand agree with, and what they align; of two readings the one with less error."""
    judged = heads[heads["measure"].isin(ALIGNING) & (heads["n"] >= FEW) & (heads["high"] <= WRONG)]
    judged = judged.sort_values("mean", kind="stable").drop_duplicates(["kind", "layer", "head"])
    return {(row.kind, row.layer, row.head): ALIGNING[str(row.measure)] for row in judged.itertuples()}


def roles(heads: pd.DataFrame) -> pd.DataFrame:
    """A line for each head that has a role: kind, layer, head, role, measure, pattern, n, mean, low, high, even.

    ``heads`` is the table of an atlas. ``pattern``: the one that the mean is the weight on; empty for roles that say
    something else, which words choose each other or what a head does with random tokens. Of several measures that pass,
    the one with the highest mean names the head; a measure that is part of another wins over it. A head that pairs
    words is said to align only if its links agree with alignments by hand: the interval of its error rate is at most
    ``head_names.WRONG``.
    """
    passed: pd.DataFrame = heads[
        heads["measure"].isin(_TITLES)
        & (heads["n"] >= FEW)
        & (heads["low"] >= THRESHOLD)
        & (heads["low"] >= worth(heads["even"]))
    ]
    places = list(passed[["kind", "layer", "head", "measure"]].itertuples(index=False, name=None))
    there = set(places)
    whole = np.array([(*place[:3], WITH_PART.get(place[3])) in there for place in places], np.bool_)
    best = passed.loc[~whole].sort_values("mean", ascending=False, kind="stable")
    best = best.drop_duplicates(["kind", "layer", "head"]).sort_index()
    aligning = _aligning(heads)
    named = (
        _(aligning.get((row.kind, row.layer, row.head), title) if row.measure == "alignment" else title)
        for row, title in zip(best.itertuples(), (_TITLES[name] for name in best["measure"]), strict=True)
    )
    best = best.assign(role=list(named), pattern=best["measure"].map(NAMED).fillna(""))
    columns = ["kind", "layer", "head", "role", "measure", "pattern", "n", "mean", "low", "high", "even"]
    return best[columns].reset_index(drop=True)
