"""One head over a corpus: its role with the evidence for and against it, its rank among its kind, its neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bartviz.analysis import sentence_words
from bartviz.analysis.corpus_measures import OF_LABELS, SILENCED, VALUE_MOVED, measure_of
from bartviz.analysis.corpus_roles import roles
from bartviz.analysis.head_names import NAMES, THRESHOLD
from bartviz.analysis.intervals import FEW
from bartviz.language import _, mark
from bartviz.record.attention import KINDS, Head

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Evidence:
    """Evidence for a head's role: the measure with the highest mean of those that name heads.

    ``role`` is empty for a head without one; ``below`` counts the texts, of ``n``, whose value is under the threshold;
    ``even`` is NaN where it is undefined.
    """

    role: str
    measure: str
    n: int
    mean: float
    low: float
    high: float
    even: float
    below: int


def of_head(table: pd.DataFrame, head: Head) -> pd.DataFrame:
    """The rows of a table of an atlas that belong to a head."""
    return table[(table["kind"] == head.kind) & (table["layer"] == head.layer) & (table["head"] == head.head)]


def ranges(table: pd.DataFrame) -> list[str]:
    """The heads of a table of an atlas, a range for each kind: "cross L0H0 to L3H7"."""
    return [
        f"{kind} L0H0 to L{int(rows['layer'].max())}H{int(rows['head'].max())}"
        for kind in KINDS
        if not (rows := table[table["kind"] == kind]).empty
    ]


def evidence(heads: pd.DataFrame, histograms: pd.DataFrame, head: Head) -> Evidence:
    """The role of a head, from the tables of an atlas. A head without one is described by its strongest pattern."""
    given = of_head(roles(heads), head)
    rows = of_head(heads, head)
    named = rows[rows["measure"].isin(NAMES)].sort_values("mean", ascending=False)
    row = named.iloc[0] if given.empty else given.iloc[0]
    bins = of_head(histograms, head)
    below = bins[(bins["measure"] == row["measure"]) & (bins["bin"] < THRESHOLD - 1e-9)]["texts"].sum()
    mean, low, high, even = (float(row[name]) for name in ("mean", "low", "high", "even"))
    role = "" if given.empty else str(row["role"])
    return Evidence(role, str(row["measure"]), int(row["n"]), mean, low, high, even, int(below))


def notice(found: Evidence, head: Head) -> str:
    """The role of a head as a sentence, with its interval, even attention, and the texts that contradict it."""
    name = sentence_words.capitalized(sentence_words.head(head.kind, head.layer, head.head))
    says = (
        _("{head} is called “{role}” over this corpus", head=name, role=found.role)
        if found.role
        else _("{head} has no role over this corpus", head=name)
    )
    without = mark("{measure} {mean:.2f}, without an interval")
    numbers = _(
        without if np.isnan(found.low) else mark("{measure} {mean:.2f}, 95% interval {low:.2f} to {high:.2f}"),
        measure=measure_of(found.measure).title,
        mean=found.mean,
        low=found.low,
        high=found.high,
    )
    even = "" if np.isnan(found.even) else ", " + _("even attention {even:.2f}", even=found.even)
    against = _(
        "In {below:,} of {n:,} texts it is below {threshold}.", below=found.below, n=found.n, threshold=THRESHOLD
    )
    return " ".join(filter(None, (f"{says}: {numbers}{even}. {against}", few(found.n))))


def few(n: int) -> str:
    """A caution about an interval from few texts; else empty."""
    return _("Fewer than {few} texts: an interval says little here.", few=FEW) if n < FEW else ""


def effect(heads: pd.DataFrame, head: Head) -> str:
    """The effect of silencing a head, in sentences: on the predictions, and on the labels of a model that labels, or on
    its value; empty where the run has not measured it."""
    return " ".join(
        filter(None, (_effect(heads, head, SILENCED), _on_labels(heads, head), _effect(heads, head, VALUE_MOVED)))
    )


def _effect(heads: pd.DataFrame, head: Head, name: str) -> str:
    kind = heads[(heads["kind"] == head.kind) & (heads["measure"] == name)].dropna(subset=["mean"])
    row = of_head(kind, head)
    if row.empty:
        return ""
    mean, low, high = (float(row[name].iloc[0]) for name in ("mean", "low", "high"))
    without = mark(
        "Silencing it moves the predictions by {mean:.3f} nats ({n:,} texts, too few for an interval): rank {rank} of "
        "{count} among the heads of its kind."
    )
    whole = mark(
        "Silencing it moves the predictions by {mean:.3f} nats (95% interval {low:.3f} to {high:.3f}, {n:,} texts): "
        "rank {rank} of {count} among the heads of its kind."
    )
    if name == VALUE_MOVED:
        without = mark(
            "Silencing it moves the value by {mean:.3g} ({n:,} texts, too few for an interval): rank {rank} of {count} "
            "among the heads of its kind."
        )
        whole = mark(
            "Silencing it moves the value by {mean:.3g} (95% interval {low:.3g} to {high:.3g}, {n:,} texts): rank "
            "{rank} of {count} among the heads of its kind."
        )
    return _(
        without if np.isnan(low) else whole,
        mean=mean,
        low=low,
        high=high,
        n=int(row["n"].iloc[0]),
        rank=int((kind["mean"] > mean).sum()) + 1,
        count=len(kind),
    )


def _on_labels(heads: pd.DataFrame, head: Head) -> str:
    """What becomes of the labels that the model says."""
    rows = of_head(heads, head).set_index("measure")
    means = {name: float(rows["mean"].get(name, np.nan)) for name in OF_LABELS}
    log_p, margin, turned = means.values()
    if np.isnan(log_p):
        return ""
    return _(
        "Without it the log probability of the label that is said changes by {log_p} nats, its margin by {margin}, and "
        "{turned:.1%} of the labels are others.",
        log_p=sentence_words.signed(log_p, "+.3f"),
        margin="–" if np.isnan(margin) else sentence_words.signed(margin, "+.3f"),
        turned=turned,
    )


def passport(heads: pd.DataFrame, head: Head) -> pd.DataFrame:
    """Every measure of a head: measure, unit, mean, low, high, even, n, rank among the heads of its kind (1 is the
    highest), heads of that kind."""
    kind = heads[heads["kind"] == head.kind]
    ranked = kind.assign(rank=kind.groupby("measure")["mean"].rank(ascending=False, method="min"))
    rows = of_head(ranked, head).dropna(subset=["mean"])
    known = [measure_of(name) for name in rows["measure"]]
    columns = ["measure", "unit", "mean", "low", "high", "even", "n", "rank"]
    rows = rows.assign(
        measure=[measure.title for measure in known],
        unit=[measure.unit for measure in known],
        rank=rows["rank"].astype(int),
    )
    return rows[columns].reset_index(drop=True)


def neighbours(heads: pd.DataFrame, head: Head) -> pd.DataFrame:
    """The five heads of the same kind that do most alike: head, distance.

    The distance is the root mean square of the differences of means, in standard deviations between the heads of the
    kind; measures that a head lacks, or that are the same for all, are left out.
    """
    import pandas as pd

    kind = heads[heads["kind"] == head.kind]
    means = kind.pivot_table(index=["layer", "head"], columns="measure", values="mean").dropna(axis=1)
    spread = means.std(ddof=0)
    scaled = (means / spread.where(spread > 1e-9)).dropna(axis=1)
    own = scaled.loc[(head.layer, head.head)]
    distance = np.sqrt(((scaled - own) ** 2).mean(axis=1)).drop((head.layer, head.head)).nsmallest(5)
    names = [str(Head(head.kind, layer, number)) for layer, number in distance.index]
    return pd.DataFrame({"head": names, "distance": distance.to_numpy()})
