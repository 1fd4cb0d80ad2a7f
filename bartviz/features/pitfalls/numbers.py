"""How attention can mislead: what a map seems to show, and what else is true of the same record.

Four warnings, each with the clearest example in the record; those that need another run are in ``experiment_findings``.
L layers, H heads, Q query rows, K key columns. Rows that count are those of words with a choice, as in
``measures.counted``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from bartviz.analysis import alignment, contributions, head_view, mutual
from bartviz.analysis.alignment import links
from bartviz.analysis.attention_vs_contribution import RANKED, weigh
from bartviz.analysis.distance import jensen_shannon
from bartviz.analysis.gold_alignment import Gold, Links, score
from bartviz.analysis.look_ahead import AHEAD, record_directions
from bartviz.analysis.measure_inputs import entropy
from bartviz.analysis.measures import counted, padding
from bartviz.arrays import Bools, Floats
from bartviz.record.attention import Attention, Head, Kind
from bartviz.record.record import Reading, Record

if TYPE_CHECKING:
    import pandas as pd

FIRST = 24  # tokens of a longer text that are drawn: examples are taken from among them where there are any
MOST = 0.9  # the largest share on sinks of a head that is still shown: it must leave something over to look at


@dataclass(frozen=True, eq=False)
class Gap:
    """One row of one head where weight and contribution disagree.

    weights (K,) and shares (K,), the norm-weighted attention divided by its sum (Kobayashi et al. 2020, equation 3).
    ``looked`` is the column with the largest weight, ``brought`` the one with the largest contribution. ``rank``:
    Spearman's correlation of the two within a row of this head, averaged over its rows; NaN where none can be ranked.
    """

    head: Head
    row: int
    weights: Floats
    shares: Floats
    looked: int
    brought: int
    rank: float


def gap(record: Record) -> Gap | None:
    """The row whose strongest key contributes least compared with its weight; None without values.

    Rows in which another key contributes most come first.
    """
    found: tuple[tuple[bool, float], Head, int] | None = None
    for kind in record.kinds:
        attention = record.attention(kind)
        if not contributions.available(attention):
            continue
        rows = rows_that_count(record, kind) & (attention.mask.sum(axis=1) >= RANKED)
        for layer, head in np.ndindex(attention.shape[:2]) if rows.any() else ():
            size, row = _furthest(attention, layer, head, rows)
            if size is not None and (found is None or size > found[0]):
                found = size, Head(kind, layer, head), row
    if found is None:
        return None
    _, name, row = found
    one = weigh(record.attention(name.kind), name.layer, name.head, query=record.rows(name.kind))
    weights, shares = one.attention[row], one.contribution[row]
    return Gap(name, row, weights, shares, int(weights.argmax()), int(shares.argmax()), one.rank)


def _furthest(attention: Attention, layer: int, head: int, rows: Bools) -> tuple[tuple[bool, float] | None, int]:
    """The row of a head with the largest gap, and a sort key: whether another key contributes most, and the size of the
    gap."""
    weights, norms = attention.head(layer, head), contributions.norms(attention, layer, head)  # (Q, K)
    total = norms.sum(axis=1)
    rows = rows & (total > 0)
    if not rows.any():
        return None, 0
    shares = norms / np.maximum(total, np.float32(1e-30))[:, None]
    top, every = weights.argmax(axis=1), np.arange(len(weights))
    other, lost = shares.argmax(axis=1) != top, weights[every, top] - shares[every, top]  # (Q,) each
    row = int(np.where(rows, lost + 2 * other, -np.inf).argmax())
    return (bool(other[row]), float(lost[row])), row


def rows_that_count(record: Record, kind: Kind) -> Bools:
    """(Q,) True for rows of words with a choice."""
    return counted(record.attention(kind), record.rows(kind)) & ~padding(record, kind)


@dataclass(frozen=True, eq=False)
class Average:
    """A layer whose mean hides its heads: ``mean`` bits of the mean's rows, ``heads`` the mean of the heads' own bits,
    and the two heads that are farthest from each other, by Jensen-Shannon distance ``apart``.

    ``row`` is where they differ most clearly; ``first`` and ``second`` are the columns they look at.
    """

    kind: Kind
    layer: int
    mean: float
    heads: float
    pair: tuple[int, int]
    apart: float
    row: int
    first: int
    second: int


def average(record: Record) -> Average | None:
    """The layer whose mean has the highest entropy compared with its heads; None if no layer has two heads and a word.

    The difference of the two entropies is the generalised Jensen-Shannon divergence of the heads (Lin 1991).
    """
    widest: tuple[float, Kind, int, float, float] | None = None
    for kind in record.kinds:
        attention, rows = record.attention(kind), rows_that_count(record, kind)
        if attention.shape[1] < 2 or not rows.any():
            continue
        for layer in range(attention.shape[0]):
            weights = attention.layer(layer)[:, rows]  # (H, q, K)
            mean, own = float(entropy(weights.mean(axis=0)).mean()), float(entropy(weights).mean())
            if widest is None or mean - own > widest[0]:
                widest = mean - own, kind, layer, mean, own
    if widest is None:
        return None
    _, kind, layer, mean, own = widest
    rows = rows_that_count(record, kind)
    weights = record.attention(kind).layer(layer)
    far = {pair: jensen_shannon(weights[pair[0]], weights[pair[1]]) for pair in combinations(range(len(weights)), 2)}
    pair = max(far, key=lambda one: float(far[one][rows].mean()))
    looks = weights[list(pair)].argmax(axis=2)  # (2, Q)
    row = _clearest(far[pair].astype(np.float32), rows, (looks < FIRST).all(axis=0) & (looks[0] != looks[1]))
    return Average(kind, layer, mean, own, pair, float(far[pair][rows].mean()), row, *looks[:, row].tolist())


def _clearest(measure: Floats, rows: Bools, seen: Bools) -> int:
    """The row of the largest measure (Q,): among the first rows whose columns are seen (Q,), where there are any."""
    drawn = rows & seen & (np.arange(len(rows)) < FIRST)
    return int(np.where(drawn if drawn.any() else rows, measure, -1).argmax())


@dataclass(frozen=True, eq=False)
class Sinks:
    """Attention sinks: the share of all weight of a kind on sinks, the share with even weights, and one head.

    ``tokens``: the share of each sink label, largest first. ``share_head`` is the share in ``head``, whose row ``row``
    looks most at column ``before``, and among columns that are not sinks at column ``after``, which then has ``rest``
    of what is left (None where nothing is left).
    """

    kind: Kind
    share: float
    even: float
    tokens: tuple[tuple[str, float], ...]
    head: Head
    share_head: float
    row: int
    before: int
    after: int
    rest: float


def sinks(record: Record) -> Sinks | None:
    """The kind with the most weight on special tokens and full stops compared with even weights, and its head with the
    most that still leaves a tenth of the weight for others. None if there are no sinks, or only sinks."""
    shares = {kind: _shares(record, kind) for kind in record.kinds}
    if not (known := {kind: found for kind, found in shares.items() if found is not None}):
        return None
    kind = max(known, key=lambda one: float(known[one].mean()) - _even(record, one))
    attention, rows, closed = (
        record.attention(kind),
        rows_that_count(record, kind),
        head_view.sinks(record.attention(kind)),
    )
    share = known[kind]  # (L, H)
    layer, head = map(int, np.unravel_index(np.where(share <= MOST, share, -1).argmax(), share.shape))
    weights = attention.head(layer, head)
    left = np.where(closed, 0, weights)  # (Q, K)
    choice = (attention.mask & ~closed).sum(axis=1)  # (Q,)
    rows = rows & (choice >= min(RANKED, int(choice[rows].max())))
    seen = np.maximum(weights.argmax(axis=1), left.argmax(axis=1)) < FIRST
    row = _clearest(np.minimum(1 - left.sum(axis=1), 0.95) + left.max(axis=1), rows, seen)
    after = int(left[row].argmax())
    rest = float(left[row, after] / max(float(left[row].sum()), 1e-9))
    return Sinks(
        kind,
        float(share.mean()),
        _even(record, kind),
        _by_token(record, kind),
        Head(kind, layer, head),
        float(share[layer, head]),
        row,
        int(weights[row].argmax()),
        after,
        rest,
    )


def _even(record: Record, kind: Kind) -> float:
    """The share of weight on sinks if weights were even over the visible keys."""
    attention, rows = record.attention(kind), rows_that_count(record, kind)
    seen = attention.mask[rows]
    return float((seen[:, head_view.sinks(attention)].sum(axis=1) / seen.sum(axis=1)).mean())


def _shares(record: Record, kind: Kind) -> Floats | None:
    """(L, H) the share of weight on sinks, over the rows that count; None if it is undefined."""
    attention, rows = record.attention(kind), rows_that_count(record, kind)
    closed = head_view.sinks(attention)
    if not rows.any() or not closed.any() or closed.all():
        return None
    return np.stack(
        [attention.layer(layer)[:, rows][:, :, closed].sum(axis=2).mean(axis=1) for layer in range(attention.shape[0])]
    )


def _by_token(record: Record, kind: Kind) -> tuple[tuple[str, float], ...]:
    """The share of each sink's label over all heads, largest first."""
    attention = record.attention(kind)
    columns = head_view.mean(attention)[rows_that_count(record, kind)].mean(axis=0)  # (K,)
    found: dict[str, float] = {}
    for at in np.flatnonzero(head_view.sinks(attention)).tolist():
        label = attention.key.labels[at]
        found[label] = found.get(label, 0.0) + float(columns[at])
    return tuple(sorted(found.items(), key=lambda one: -one[1]))


@dataclass(frozen=True, eq=False)
class Shift:
    """One head with two readings: rows named by what they predict, and by what they read.

    ``errors`` are the alignment error rates against links made by hand, or against the links by ``predicts`` where
    there are none by hand (then the first is 0). ``links`` are the mutual links of each reading.
    """

    head: Head
    errors: Mapping[Reading, float]
    links: Mapping[Reading, Links]
    by_hand: bool


def shift(record: Record, gold: Gold | None = None) -> Shift | None:
    """The head that aligns best with rows named by what they predict, and its error with both readings; None without an
    output.

    Och and Ney 2003, section 5: AER = 1 - (|A & S| + |A & P|) / (|A| + |S|).
    """
    if record.cross is None or record.output is None:
        return None
    best = _aligning(record, gold)
    if best is None:
        return None
    readings: tuple[Reading, ...] = ("predicts", "reads")
    found = {reading: links(alignment.table(record, [best], reading=reading).weights) for reading in readings}
    truth = gold or Gold(found["predicts"], found["predicts"])
    rates = {reading: score(found[reading], truth).error_rate for reading in readings}
    errors = {reading: rate for reading, rate in rates.items() if rate is not None}
    return Shift(best, errors, found, gold is not None) if len(errors) == len(readings) else None


def shifted_row(record: Record, head: Head) -> int | None:
    """The row of a head of cross-attention with the largest weight on a word, of those that read one word and predict
    another; the first rows and columns alone are drawn. None if there is none."""
    attention = record.attention("cross")
    reads, predicts = record.rows("cross", "reads"), record.rows("cross", "predicts")
    weights = attention.head(head.layer, head.head)[:FIRST]
    looked = weights.argmax(axis=1)
    rows = [
        row
        for row, column in enumerate(looked.tolist())
        if column < FIRST
        and not (attention.key.special[column] or reads.special[row] or predicts.special[row])
        and reads.labels[row] != predicts.labels[row]
    ]
    return max(rows, key=lambda row: float(weights[row].max()), default=None)


def _aligning(record: Record, gold: Gold | None) -> Head | None:
    """The head with the fewest errors, rows named by what they predict; without ``gold`` the head with the highest
    agreement among those that look for the next word."""
    source, target = alignment.lines(record)
    if not len(source) or not len(target):
        return None
    found: dict[Head, tuple[bool, float]] = {}
    for head in alignment.heads_of(record):
        weights = record.attention("cross").head(head.layer, head.head)
        shown = alignment.merged(record, weights, source, target, reading="predicts")
        direction = record_directions(record, weights)
        found[head] = (
            (direction is None or bool(direction == AHEAD), mutual.score(shown.weights, shown.has_rows))
            if gold is None
            else (True, 0.0 if (rate := score(links(shown.weights), gold).error_rate) is None else 1 - rate)
        )
    return max(found, key=found.__getitem__)


def table(record: Record, gold: Gold | None = None) -> pd.DataFrame:
    """The numbers of all warnings that the record has an example of: warning, where, number, value."""
    import pandas as pd

    lines: list[tuple[str, str, str, float]] = []
    one, mean, rest, late = gap(record), average(record), sinks(record), shift(record, gold)
    if one is not None:
        where = f"{one.head} row {one.row}"
        lines += [
            ("gap", where, "weight of the key looked at most", float(one.weights[one.looked])),
            ("gap", where, "its share of what arrives", float(one.shares[one.looked])),
            ("gap", where, "largest share of what arrives", float(one.shares[one.brought])),
            ("gap", str(one.head), "rank correlation", one.rank),
        ]
    if mean is not None:
        where = f"{mean.kind} L{mean.layer}"
        pair = f"{where}H{mean.pair[0]} and H{mean.pair[1]}"
        lines += [
            ("average", where, "bits of the mean", mean.mean),
            ("average", where, "mean bits of its heads", mean.heads),
            ("average", pair, "Jensen-Shannon distance", mean.apart),
        ]
    if rest is not None:
        lines += [
            ("sinks", rest.kind, "share on sinks", rest.share),
            ("sinks", rest.kind, "evenly", rest.even),
            ("sinks", str(rest.head), "share on sinks", rest.share_head),
        ]
    if late is not None:
        lines += [
            ("shift", str(late.head), f"error named by what a row {name}", late.errors[name]) for name in late.errors
        ]
    return pd.DataFrame(lines, columns=["warning", "where", "number", "value"])
