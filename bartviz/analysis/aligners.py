"""Which heads align: all heads and layers of cross-attention ranked, and the set of heads that agrees best with gold.

Each is tried with both readings: some heads look for the next word, some at the word just read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bartviz.analysis import mutual, sentence_words
from bartviz.analysis.alignment import (
    THRESHOLD,
    Line,
    Method,
    Table,
    cross_of,
    heads_of,
    layer_name,
    lines,
    links,
    mean_of,
    merged,
    table,
)
from bartviz.analysis.gold_alignment import Gold, score
from bartviz.analysis.look_ahead import AHEAD, NEITHER, record_directions
from bartviz.arrays import Floats
from bartviz.errors import BudgetError, SettingError
from bartviz.language import _, later
from bartviz.record.attention import Head
from bartviz.record.record import Reading, Record

if TYPE_CHECKING:
    import pandas as pd

CLEARLY = 0.2  # less error than this by the other reading is not worth mentioning
READINGS: tuple[Reading, ...] = ("predicts", "reads")
LIMIT = 64_000_000  # bytes that the tables of all heads may take
CANDIDATES = 24  # heads that the search for a set chooses from: those that align best alone


@dataclass(frozen=True, eq=False)
class Aligner:
    """One head, or the mean of a layer's heads: its weights between words by one reading.

    ``ahead``: whether it looks for the next word (True) or at the word just read (False); None if it does neither or
    that is unknown.
    """

    heads: tuple[Head, ...]
    table: Table
    agreement: float
    ahead: bool | None = None

    @property
    def name(self) -> str:
        """ "L2H0", or "layer 2"."""
        return self.heads[0].short if len(self.heads) == 1 else _("layer {layer}", layer=self.heads[0].layer)

    @property
    def fits(self) -> bool:
        """Whether this reading may be right: with the wrong one, all links are off by one word."""
        return self.ahead is None or self.sure

    @property
    def sure(self) -> bool:
        """Whether this reading is known to be the right one."""
        return self.ahead is not None and self.ahead == (self.table.reading == "predicts")


@dataclass(frozen=True, slots=True)
class Found:
    """A set of heads chosen on one sentence, and its error rate there, which is lower than on other sentences."""

    heads: tuple[Head, ...]
    error_rate: float


def aligners(record: Record) -> tuple[Aligner, ...]:
    """Every head and every layer's mean, by both readings; the best by agreement first.

    Raises SettingError for a record without cross-attention, BudgetError for one so long that the tables of all its
    heads would take more than 64 MB.
    """
    source, target = lines(record)
    layers, heads = cross_of(record).shape[:2]
    needed = 2 * layers * (heads + 1) * len(source) * len(target) * 4
    if needed > LIMIT:
        raise BudgetError(
            later(
                "Ranking {heads} heads over {targets:,} x {sources:,} words would need {needed:,.0f} MB of at "
                "most {limit:.0f} MB: choose a shorter text, or name a head.",
                heads=layers * heads,
                targets=len(target),
                sources=len(source),
                needed=needed / 1e6,
                limit=LIMIT / 1e6,
            )
        )
    made = [
        Aligner(heads, shown, mutual.score(shown.weights, shown.has_rows), _ahead(record, weights))
        for heads, weights in _means(record)
        for shown in _both(record, heads, weights, source, target)
    ]
    return tuple(sorted(made, key=lambda one: -one.agreement))


def _means(record: Record) -> Iterator[tuple[tuple[Head, ...], Floats]]:
    """The weights (Q, K) of each head, then the layer's mean; at most two maps are in memory at a time."""
    for layer in range(cross_of(record).shape[0]):
        heads = heads_of(record, layer)
        total: Floats | None = None
        for head in heads:
            weights = mean_of(record, [head])
            yield (head,), weights
            total = weights if total is None else total + weights
        if total is not None and len(heads) > 1:
            yield heads, total / np.float32(len(heads))


def _ahead(record: Record, weights: Floats) -> bool | None:
    found = record_directions(record, weights)
    return None if found is None or found == NEITHER else bool(found == AHEAD)


def _both(record: Record, heads: tuple[Head, ...], weights: Floats, source: Line, target: Line) -> list[Table]:
    name = sentence_words.head("cross", heads[0].layer, heads[0].head)
    if len(heads) > 1:
        name = layer_name(heads[0].layer, len(heads))
    return [merged(record, weights, source, target, reading=reading, name=name) for reading in READINGS]


def best(ranked: Sequence[Aligner], reading: Reading | None = None) -> Aligner:
    """The head with the highest agreement, of one ``reading`` if given. Heads whose reading is known to be right come
    first, then those for which it is unknown."""
    alone = [one for one in ranked if len(one.heads) == 1 and reading in (None, one.table.reading)]
    return max(alone, key=lambda one: (one.sure, one.fits, one.agreement))  # of equals the first


def ranking(
    ranked: Sequence[Aligner], *, method: Method = "mutual", threshold: float = THRESHOLD, gold: Gold | None = None
) -> pd.DataFrame:
    """One line for each head and layer by each reading, the best first: by error rate with ``gold``, else by agreement.

    ``agreement``: the share of attention on mutual links; ``special``: the share that went to special tokens;
    ``looks``: ahead, for the next word, or back, at the word just read ("" for neither, or if it is unknown).
    """
    import pandas as pd

    lines_ = []
    for one in ranked:
        found = links(one.table.weights, method, threshold=threshold)
        looks = "" if one.ahead is None else "ahead" if one.ahead else "back"
        line: dict[str, object] = {"heads": one.name, "named by": one.table.reading, "looks": looks}
        if gold is not None:
            judged = score(found, gold)
            line |= {"error rate": judged.error_rate, "precision": judged.precision, "recall": judged.recall}
        lines_.append(line | {"agreement": one.agreement, "links": len(found), "special": one.table.special_share})
    frame = pd.DataFrame(lines_)
    return frame if gold is None else frame.sort_values("error rate", kind="stable")


def hint(
    record: Record,
    shown: Table,
    heads: Sequence[Head],
    gold: Gold,
    method: Method = "mutual",
    threshold: float = THRESHOLD,
) -> str:
    """A sentence if the other reading of the same heads has clearly fewer errors, else an empty text."""
    other: Reading = "reads" if shown.reading == "predicts" else "predicts"
    turned = table(record, heads, reading=other)
    here, there = (score(links(one.weights, method, threshold=threshold), gold) for one in (shown, turned))
    if here.error_rate is None or there.error_rate is None or here.error_rate - there.error_rate < CLEARLY:
        return ""
    numbers = {"right": there.right, "found": there.found, "then": there.error_rate, "now": here.error_rate}
    if other == "reads":
        return _(
            "Named by the word that a row reads, {right} of {found} links would be right "
            "(error rate {then:.2f} instead of {now:.2f}): these links look back, at the word just read.",
            **numbers,
        )
    return _(
        "Named by the word that a row predicts, {right} of {found} links would be right "
        "(error rate {then:.2f} instead of {now:.2f}): these links look ahead, for the word to come.",
        **numbers,
    )


def best_set(
    ranked: Sequence[Aligner],
    gold: Gold,
    *,
    reading: Reading = "predicts",
    method: Method = "mutual",
    threshold: float = THRESHOLD,
) -> Found:
    """Heads whose mean has the lowest error rate on ``gold``, added one by one while the rate falls, at most six.

    The search is greedy, among the 24 heads that align best on their own: it need not find the best set, and the set is
    judged on the sentence it was chosen on. Raises SettingError if ``gold`` has no links or no head links anything.
    """
    if not gold.possible:
        raise SettingError(later("The alignment made by hand has no link: there is nothing to agree with."))
    alone = [one for one in ranked if len(one.heads) == 1 and one.table.reading == reading]

    def rate(weights: Floats) -> float:
        found = score(links(weights, method, threshold=threshold), gold).error_rate
        return float("inf") if found is None else found

    open_ = sorted(alone, key=lambda one: rate(one.table.weights))[:CANDIDATES]
    chosen: list[Aligner] = []
    total, lowest = np.zeros_like(open_[0].table.weights), float("inf")
    while open_ and len(chosen) < 6:
        rates = [rate((total + one.table.weights) / np.float32(len(chosen) + 1)) for one in open_]
        place = int(np.argmin(rates))
        if rates[place] >= lowest:
            break
        lowest = rates[place]
        chosen.append(open_.pop(place))
        total = total + chosen[-1].table.weights
    if not chosen:
        raise SettingError(later("No head links any words this way: there is nothing to judge."))
    return Found(tuple(one.heads[0] for one in chosen), lowest)
