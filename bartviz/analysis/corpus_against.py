"""Two corpora, or two models, head by head: the values of both, their difference, and the roles that change."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bartviz.analysis import intervals, verdicts
from bartviz.analysis.corpus_measures import measure_of
from bartviz.analysis.corpus_roles import roles
from bartviz.analysis.intervals import Doubles, Whole
from bartviz.analysis.means import Means
from bartviz.arrays import Floats
from bartviz.errors import SettingError
from bartviz.record.attention import KINDS, Head, Kind

if TYPE_CHECKING:
    import pandas as pd

ROUNDING = 1e-5
"""How far two values of a text may be apart, of 1 or of their size, by arithmetic alone: a pass over other batches adds
up in another order. A smaller difference is none, or a test of many texts would find it."""
_HEAD = ["kind", "layer", "head"]
_VALUES = ["mean", "low", "high"]
_COLUMNS = [
    *(*_HEAD, "measure", "n", *_VALUES, *(f"other_{name}" for name in _VALUES)),
    *("difference", "difference_low", "difference_high", "p", "p_holm", "p_bh", "role", "other_role", "changed"),
]


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


def shared_kinds(heads: pd.DataFrame, other: pd.DataFrame) -> list[Kind]:
    """The kinds of attention whose heads can be compared. Raises SettingError where there is none."""
    reasons = incomparable(heads, other)
    shared = [kind for kind in KINDS if kind not in reasons and _shape(heads, kind) is not None]
    if not shared:
        raise SettingError(f"These atlases have no heads to compare: {'; '.join(reasons.values()) or 'none has any'}.")
    return shared


def with_errors(heads: pd.DataFrame) -> pd.DataFrame:
    """A table of an atlas with se and df: those of independent texts where an earlier version wrote none."""
    if {"se", "df"} <= set(heads.columns):
        return heads
    several = heads["n"].where(heads["n"] > 1)
    return heads.assign(se=heads["sd"] / several**0.5, df=several - 1.0)


def against(heads: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    """A line for each head and measure that two tables of atlases share, heads whose role changes first.

    Columns: kind, layer, head, measure; n, the texts of the smaller sample; mean, low, high; other_mean, other_low,
    other_high; the difference, the other mean less the first, with its 95% interval from difference_low to
    difference_high; p, the probability of a difference as large if there is none (Welch 1947); p_holm and p_bh, the
    same for as many lines as the table has (`.analysis.verdicts``); role and other_role, empty without one, and whether
    they changed (never of fewer than 30 texts, where no head has a role). The interval and p take the two corpora as
    independent of each other; both are by blocks where neighbouring texts of a corpus are alike (``means.Means``).
    Raises SettingError where no kind of attention has the same layers and heads in both.
    """
    shared = shared_kinds(heads, other)
    tables = (with_errors(table) for table in (heads, other))
    one, two = (table[table["kind"].isin(shared)].dropna(subset=["mean"]) for table in tables)
    both = one.merge(two, on=[*_HEAD, "measure"], suffixes=("", "_two"))
    both = both.rename(columns={f"{name}_two": f"other_{name}" for name in _VALUES})
    difference = both["other_mean"] - both["mean"]
    ends = (f"{side}{name}" for side in ("", "other_") for name in _VALUES)
    low, high = intervals.of_difference(*(both[name].to_numpy(np.float64) for name in ends))
    both = both.assign(difference=difference, difference_low=low, difference_high=high, p=_welch(both))
    texts = both.groupby(_HEAD)[["n", "n_two"]].transform("max").min(axis=1)
    table = _finished(both.assign(n=both[["n", "n_two"]].min(axis=1)), heads, other, texts)
    return table.sort_values("changed", ascending=False, kind="stable")[_COLUMNS].reset_index(drop=True)


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """The values of one measure that two atlases have of the same texts: ``one`` and ``other``, (N, L, H) each, NaN
    where undefined, of ``texts`` (N,), their rows in the corpus in ascending order."""

    kind: Kind
    measure: str
    texts: Whole
    one: Floats
    other: Floats


def paired_against(heads: pd.DataFrame, other: pd.DataFrame, pairs: Iterable[Pair]) -> pd.DataFrame:
    """The same over texts that both atlases have measured, text by text; the most certain differences first.

    ``heads`` and ``other`` say the roles. A line counts the n texts where both values are defined, also in its means.
    The interval and p are those of the mean of their differences by Student's t, where a difference of rounding
    (``ROUNDING``) is none; all intervals and p are by blocks where neighbouring texts are alike (``means.Means``).
    Further columns: median and other_median of the values, and difference_median, the median of the differences.
    Measures on random tokens have no texts and no line.
    """
    import pandas as pd

    tables = [_paired(pair) for pair in pairs]
    if not tables:
        raise SettingError("These atlases have no measure of each text in common.")
    both = pd.concat(tables, ignore_index=True)
    both = both[both["n"] > 0]
    texts = both.groupby(_HEAD)["n"].transform("max")
    table = _finished(both, heads, other, texts)
    order = np.lexsort((-np.abs(table["t"].to_numpy()), table["p"].to_numpy()))
    return table.iloc[order][[*_COLUMNS, "median", "other_median", "difference_median"]].reset_index(drop=True)


def _paired(pair: Pair) -> pd.DataFrame:
    """The lines of one measure. Letters: N texts, C heads."""
    import pandas as pd

    a, b = (values.reshape(len(values), -1).astype(np.float64) for values in (pair.one, pair.other))  # (N, C)
    known = np.isfinite(a) & np.isfinite(b)
    a, b, n = np.where(known, a, np.nan), np.where(known, b, np.nan), known.sum(axis=0)
    layer, head = (index.ravel() for index in np.indices(pair.one.shape[1:]))
    measure = measure_of(pair.measure)
    columns: dict[str, Any] = {"kind": pair.kind, "layer": layer, "head": head, "measure": pair.measure, "n": n}
    for name, values in (("", a), ("other_", b)):
        found = Means.of(values, pair.texts)
        top = np.max(np.where(known, values, -np.inf), axis=0, initial=-np.inf)
        low, high = intervals.of_means([measure] * len(n), n, found.mean, found.spread, top)
        columns |= {f"{name}mean": found.mean, f"{name}low": low, f"{name}high": high}
        columns[f"{name}median"] = _median(values, n)
    moved = b - a
    moved[np.abs(moved) <= ROUNDING * np.maximum(1, np.abs(a))] = 0.0
    change, most = Means.of(moved, pair.texts), measure.highest or np.inf
    columns |= {
        "difference": change.mean,
        "difference_low": np.maximum(change.ends[0], -most),
        "difference_high": np.minimum(change.ends[1], most),
        "difference_median": _median(moved, n),
        "t": change.t,
        "p": change.two_sided,
    }
    return pd.DataFrame(columns)


def _median(values: Doubles, n: Whole) -> Doubles:
    found = np.full(len(n), np.nan)
    found[n > 0] = np.nanmedian(values[:, n > 0], axis=0)
    return found


def _welch(both: pd.DataFrame) -> Doubles:
    """p of two means with their own standard errors and degrees of freedom (Welch 1947)."""
    one, two = both["se"].to_numpy() ** 2, both["se_two"].to_numpy() ** 2
    n, m = both["df"].to_numpy(), both["df_two"].to_numpy()
    difference = (both["other_mean"] - both["mean"]).to_numpy()
    with np.errstate(invalid="ignore", divide="ignore"):
        t = np.where(difference == 0, 0.0, difference / np.sqrt(one + two))
        free = (one + two) ** 2 / (one**2 / n + two**2 / m)
        free = np.where(one + two == 0, n + m, free)
    return intervals.chance(t, free)


def corrected(table: pd.DataFrame) -> pd.DataFrame:
    """A table with ``p_holm`` and ``p_bh`` for as many tests as it has lines with a p."""
    p = table["p"].to_numpy(np.float64)
    return table.assign(p_holm=verdicts.holm(p), p_bh=verdicts.adjusted(p))


def _finished(both: pd.DataFrame, heads: pd.DataFrame, other: pd.DataFrame, texts: pd.Series) -> pd.DataFrame:
    """The lines with their corrected probabilities and the roles of their heads; ``texts`` by which a role is known."""
    named = corrected(both).assign(role=_named(heads, both), other_role=_named(other, both))
    return named.assign(changed=(named["role"] != named["other_role"]) & (texts >= intervals.FEW))


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


def changes(table: pd.DataFrame, kind: Kind, measure: str) -> Changes:
    """The differences of one measure, from a table of ``against`` or ``paired_against``."""
    rows: Any = table
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
