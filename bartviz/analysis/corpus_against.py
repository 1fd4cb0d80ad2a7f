"""Two corpora, or two models, head by head: the values of both, their difference, and the roles that change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bartviz.analysis import intervals
from bartviz.analysis.corpus_roles import roles
from bartviz.errors import SettingError
from bartviz.record.attention import KINDS, Head, Kind

if TYPE_CHECKING:
    import pandas as pd

_HEAD = ["kind", "layer", "head"]
_VALUES = ["mean", "low", "high"]


def incomparable(heads: pd.DataFrame, other: pd.DataFrame) -> dict[Kind, str]:
    """The kinds of attention whose heads cannot be compared, with the reason; from two tables of atlases."""
    found: dict[Kind, str] = {}
    for kind in KINDS:
        one, two = (_shape(table, kind) for table in (heads, other))
        if (one is None) != (two is None):
            found[kind] = f"only one atlas has {kind} attention"
        elif one is not None and two is not None and one != two:
            found[kind] = f"{kind} attention has {one[0]} layers of {one[1]} heads, and {two[0]} of {two[1]}"
    return found


def against(heads: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    """A line for each head and measure that two tables of atlases share, heads whose role changes first.

    Columns: kind, layer, head, measure; mean, low, high; other_mean, other_low, other_high; the difference, the other
    mean less the first, with its 95% interval from difference_low to difference_high; role and other_role, empty
    without one, and whether they changed (never of fewer than 30 texts, where no head has a role). The interval takes
    the two corpora as independent. Raises SettingError where no kind of attention has the same layers and heads in
    both.
    """
    reasons = incomparable(heads, other)
    shared = [kind for kind in KINDS if kind not in reasons and _shape(heads, kind) is not None]
    if not shared:
        raise SettingError(f"These atlases have no heads to compare: {'; '.join(reasons.values()) or 'none has any'}.")
    one, two = (table[table["kind"].isin(shared)].dropna(subset=["mean"]) for table in (heads, other))
    both = one.merge(two, on=[*_HEAD, "measure"], suffixes=("", "_two"))
    both = both.rename(columns={f"{name}_two": f"other_{name}" for name in _VALUES})
    difference = both["other_mean"] - both["mean"]
    ends = (f"{side}{name}" for side in ("", "other_") for name in _VALUES)
    low, high = intervals.of_difference(*(both[name].to_numpy(np.float64) for name in ends))
    both = both.assign(
        difference=difference,
        difference_low=low,
        difference_high=high,
        role=_named(heads, both),
        other_role=_named(other, both),
    )
    texts = both.groupby(_HEAD)[["n", "n_two"]].transform("max").min(axis=1)
    both = both.assign(changed=(both["role"] != both["other_role"]) & (texts >= intervals.FEW))
    columns = [*_HEAD, "measure", *_VALUES, *(f"other_{name}" for name in _VALUES)]
    columns += ["difference", "difference_low", "difference_high", "role", "other_role", "changed"]
    return both.sort_values("changed", ascending=False, kind="stable")[columns].reset_index(drop=True)


@dataclass(frozen=True, slots=True)
class Changes:
    """How two atlases differ in one measure of one kind of attention: of ``heads`` heads with a value in both,
    ``apart`` have a difference whose 95% interval leaves out 0, and ``changed`` have another role; ``largest`` is the
    head with the largest difference of those apart, None without any."""

    heads: int
    apart: int
    changed: int
    largest: Head | None
    difference: float


def changes(heads: pd.DataFrame, other: pd.DataFrame, kind: Kind, measure: str) -> Changes:
    """The differences of one measure, from two tables of atlases that ``against`` can compare."""
    rows = against(heads, other)
    rows = rows[(rows["kind"] == kind) & (rows["measure"] == measure)]
    apart = rows[(rows["difference_low"] > 0) | (rows["difference_high"] < 0)]
    changed = int(rows["changed"].sum())
    if apart.empty:
        return Changes(len(rows), 0, changed, None, 0.0)
    most = apart.iloc[int(apart["difference"].abs().to_numpy().argmax())].to_dict()
    return Changes(
        len(rows), len(apart), changed, Head(kind, int(most["layer"]), int(most["head"])), float(most["difference"])
    )


def _named(heads: pd.DataFrame, rows: pd.DataFrame) -> list[str]:
    """The role of the head of each row, empty without one."""
    named = {(row.kind, row.layer, row.head): str(row.role) for row in roles(heads).itertuples()}
    return [named.get(place, "") for place in rows[_HEAD].itertuples(index=False, name=None)]


def _shape(heads: pd.DataFrame, kind: Kind) -> tuple[int, int] | None:
    """The layers and heads of a kind; None without any."""
    rows: Any = heads[heads["kind"] == kind]
    return None if rows.empty else (int(rows["layer"].max()) + 1, int(rows["head"].max()) + 1)
