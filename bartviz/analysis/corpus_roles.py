"""The roles of heads over a corpus: named as on one text (``naming``), but only if the interval of the mean passes.

A head has a role if the lower end of its 95% interval is at least a threshold, and clearly above even attention.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from bartviz.analysis.corpus_definitions import RANDOM
from bartviz.analysis.intervals import FEW
from bartviz.analysis.naming import NAMES, ROOM, THRESHOLD
from bartviz.language import _

if TYPE_CHECKING:
    import pandas as pd

_TITLES: Mapping[str, str] = {**NAMES, **{name: measure.named for name, measure in RANDOM.items()}}
_PARTS = {"special": "first"}  # all special tokens, and the one that comes first


def roles(heads: pd.DataFrame, *, threshold: float = THRESHOLD) -> pd.DataFrame:
    """A line for each head that has a role: kind, layer, head, role, measure, n, mean, low, high, even.

    ``heads`` is the table of an atlas. Of several measures that pass, the one with the highest mean names the head; a
    measure that is part of another wins over it.
    """
    even = heads["even"].fillna(0.0).clip(upper=1 / ROOM)
    passed = heads[
        heads["measure"].isin(_TITLES)
        & (heads["n"] >= FEW)
        & (heads["low"] >= threshold)
        & (heads["low"] >= ROOM * even)
    ]
    places = list(passed[["kind", "layer", "head", "measure"]].itertuples(index=False, name=None))
    there = set(places)
    whole = np.array([(*place[:3], _PARTS.get(place[3])) in there for place in places], np.bool_)
    best = passed.loc[~whole].sort_values("mean", ascending=False, kind="stable")
    best = best.drop_duplicates(["kind", "layer", "head"]).sort_index()
    best = best.assign(role=[_(_TITLES[name]) for name in best["measure"]])
    columns = ["kind", "layer", "head", "role", "measure", "n", "mean", "low", "high", "even"]
    return best[columns].reset_index(drop=True)
