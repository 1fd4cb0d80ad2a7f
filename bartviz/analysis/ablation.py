"""Effects of silencing heads: numbers of one ablation, and of a sweep that ablates head after head.

Michel, Levy and Neubig 2019, "Are Sixteen Heads Really Better than One?", ablate one head, or all but one of a layer,
by multiplying a head's output with 0. The tokens are given in both runs, so each row is compared with itself.
Letters in shapes: T rows that are scored, L layers, H heads, N heads of a sweep.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bartviz.analysis import prediction, sentence_words
from bartviz.analysis.masks import count, quote
from bartviz.analysis.readonly import LONGEST, Brief, array_bytes, freeze
from bartviz.arrays import Floats, Ints
from bartviz.errors import SettingError, choices
from bartviz.language import _, later, mark, plural
from bartviz.language.percentages import percent
from bartviz.record.attention import KINDS, Head, Kind
from bartviz.record.prediction import Prediction
from bartviz.record.record import Record

if TYPE_CHECKING:
    import pandas as pd

Measure = Literal["log_probability", "divergence", "changed", "labels", "distance"]
MEASURES: tuple[Measure, ...] = get_args(Measure)
OF_WORDS: tuple[Measure, ...] = ("log_probability", "divergence", "changed")
ROUNDING = 1e-4  # nats; a smaller change of log p is float32 arithmetic in another order
QUIET = 0.05  # nats; below it no change of a token's log p is worth a word
SMALLEST = 1e-3  # probability of a text; a smaller one is said as log p alone


@dataclass(frozen=True, eq=False, repr=False)
class Guesses(Brief):
    """Predictions of a run at T rows: log p of the target (nats), and its best token: id, label, probability."""

    log_probability: Floats
    best: Ints
    labels: tuple[str, ...]
    probability: Floats

    def __post_init__(self) -> None:
        freeze(self)


@dataclass(frozen=True, eq=False, repr=False)
class Ablation(Brief):
    """One set of heads scaled, the same tokens given before and after.

    ``rows`` (T,) are the rows that are scored; ``targets`` the labels of what followed them in the record (for a model
    that fills masks: its own best guesses before). ``before`` and ``after`` are None where the model does not predict
    tokens. ``divergence`` (T,): KL(before || after) in nats. ``distance`` (rows of the last stack,): 1 - cosine of the
    last hidden state before and after, 0..2. ``attention``: for each kind the mean Jensen-Shannon distance of the rows
    of each head, (L, H), 0..1. Rows that only pad a batch have distance 0, and no mean counts them. ``changed`` is the
    record of the changed pass. ``written`` is what the model then writes itself, without and with the change; None for
    a model that writes nothing. ``said`` is what a model's head that labels says before the change, as
    ``changed.prediction`` after it; None without one.
    """

    record: Record
    factors: Mapping[Head, float]
    rows: Ints
    targets: tuple[str, ...]
    before: Guesses | None
    after: Guesses | None
    divergence: Floats
    distance: Floats
    attention: Mapping[Kind, Floats]
    changed: Record
    written: tuple[Record, Record] | None = None
    said: Prediction | None = None

    def __post_init__(self) -> None:
        freeze(self)

    def __repr__(self) -> str:
        heads = [f"{head} x {factor:g}" for head, factor in self.factors.items()]
        more = f" and {len(heads) - LONGEST} more" if len(heads) > LONGEST else ""
        if self.before is not None:
            effect = f"log p {self.effect:+.4g} nats, {len(self.turned)} of {len(self.rows)} best tokens changed"
        elif np.isfinite(self.labels):
            effect = f"KL of the labels {self.labels:.4g} nats"
        else:
            effect = f"largest cosine distance of a state {self.distance.max():.4g}"
        return f"<Ablation of {', '.join(heads[:LONGEST])}{more}: {effect}>"

    @property
    def effect(self) -> float:
        """Change of the sum of log p of the targets, in nats: negative where the model now finds them less likely."""
        if self.before is None or self.after is None:
            return float("nan")
        return float(self.after.log_probability.sum(dtype=np.float64) - self.before.log_probability.sum(dtype=float))

    @property
    def labels(self) -> float:
        """How far the probabilities of the labels move, KL(before || after) in nats (``prediction.divergence``); NaN
        for a model that labels nothing."""
        now = self.changed.prediction
        if self.said is None or now is None:
            return float("nan")
        return prediction.divergence(self.said, now, ~self.record.source.special)

    @property
    def label_log_probability(self) -> float:
        """The change of the log probability of the label that is said, in nats: negative where it is less likely now
        (``prediction.said_label``); NaN for a model that labels nothing."""
        return self._said_label()[0]

    @property
    def label_margin(self) -> float:
        """The change of how far that label's logit is above the best other one's; NaN as above."""
        return self._said_label()[1]

    def _said_label(self) -> tuple[float, float]:
        now = self.changed.prediction
        if self.said is None or now is None:
            return float("nan"), float("nan")
        return prediction.said_label(self.said, now, ~self.record.source.special)

    @property
    def turned(self) -> Ints:
        """Indices of the rows (of T) whose best token changed."""
        if self.before is None or self.after is None:
            return np.zeros(0, np.int64)
        return np.flatnonzero(self.before.best != self.after.best)

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays, without those of the source record."""
        held = sum(array_bytes(part) for part in (self, self.before, self.after) if part is not None)
        return held + self.changed.nbytes + sum(part.nbytes for part in self.written or () if part is not self.record)


@dataclass(frozen=True, eq=False, repr=False)
class Sweep(Brief):
    """Every head of some kinds scaled by ``factor``, one after the other; with ``keep`` all *other* heads of its layer.

    Arrays (N,) in the order of ``heads``: ``log_probability`` the change of the summed log p of the record's tokens
    (nats, negative: less likely; NaN where the model does not predict tokens), ``divergence`` the mean KL of a row
    (nats), ``changed`` the number of rows whose best token is another one, ``labels`` the KL of what a head that labels
    says (nats; empty or NaN without one), ``label_log_probability`` and ``label_margin`` the changes of the label that
    it said (``prediction.said_label``; empty or NaN likewise), ``distance`` the mean 1 - cosine of the last state.
    """

    heads: tuple[Head, ...]
    factor: float
    keep: bool
    baseline: float
    scored: int
    log_probability: Floats
    divergence: Floats
    changed: Ints
    distance: Floats
    labels: Floats = field(default_factory=lambda: np.zeros(0, np.float32))
    label_log_probability: Floats = field(default_factory=lambda: np.zeros(0, np.float32))
    label_margin: Floats = field(default_factory=lambda: np.zeros(0, np.float32))

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        return tuple(dict.fromkeys(head.kind for head in self.heads))

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures that this model has."""
        missing = [] if np.isfinite(self.log_probability).all() else [*OF_WORDS]
        missing += [] if len(self.labels) and np.isfinite(self.labels).all() else ["labels"]
        return tuple(measure for measure in MEASURES if measure not in missing)

    @property
    def nbytes(self) -> int:
        return array_bytes(self)

    def values(self, measure: Measure) -> Floats:
        """(N,) the values of one measure. Raises SettingError."""
        if measure not in self.measures:
            raise SettingError(later("A sweep of this model is measured by {choices}.", choices=choices(self.measures)))
        return np.asarray(getattr(self, measure), np.float32)

    def map(self, kind: Kind, measure: Measure = "log_probability") -> Floats:
        """(L, H) the values for one kind; NaN for a head that was not measured."""
        own = [(place, head) for place, head in enumerate(self.heads) if head.kind == kind]
        if not own:
            raise SettingError(
                later(
                    "The sweep has no {kind} heads: choose {choices}.",
                    kind=sentence_words.later_kind(kind),
                    choices=choices(self.kinds),
                )
            )
        shape = (1 + max(head.layer for _place, head in own), 1 + max(head.head for _place, head in own))
        cells, values = np.full(shape, np.nan, np.float32), self.values(measure)
        for place, head in own:
            cells[head.layer, head.head] = values[place]
        return cells

    def ranked(self, measure: Measure | None = None) -> tuple[int, ...]:
        """Indices of the heads by effect, largest first: the greatest fall of log p, else the largest value."""
        chosen = measure or self.measures[0]
        values = self.values(chosen)
        return tuple(int(i) for i in np.argsort(values if chosen == "log_probability" else -values, kind="stable"))


def sweep_table(sweep: Sweep) -> pd.DataFrame:
    """One line for each head, the largest effect first."""
    import pandas as pd

    order = list(sweep.ranked())
    heads = [sweep.heads[place] for place in order]
    labels = {"KL of the labels (nats)": sweep.labels[order]} if "labels" in sweep.measures else {}
    return pd.DataFrame(
        {
            "rank": np.arange(1, len(order) + 1),
            "kind": [head.kind for head in heads],
            "layer": [head.layer for head in heads],
            "head": [head.head for head in heads],
            "log p change (nats)": sweep.log_probability[order],
            "mean KL (nats)": sweep.divergence[order],
            "best tokens changed": sweep.changed[order],
            **labels,
            "mean cosine distance": sweep.distance[order],
        }
    )


def rows_table(found: Ablation) -> pd.DataFrame:
    """One line for each scored row: the target's probability before and after, and the best token of both."""
    import pandas as pd

    if found.before is None or found.after is None:
        labels = found.changed.attention(found.changed.kinds[-1]).query.labels
        return pd.DataFrame(
            {"row": np.arange(len(labels)), "token": labels, "cosine distance": np.asarray(found.distance)}
        )
    return pd.DataFrame(
        {
            "row": found.rows,
            "token": found.targets,
            "p before": np.exp(found.before.log_probability),
            "p after": np.exp(found.after.log_probability),
            "log p change (nats)": found.after.log_probability - found.before.log_probability,
            "KL (nats)": found.divergence,
            "best before": found.before.labels,
            "best after": found.after.labels,
            "p of the best after": found.after.probability,
        }
    )


def name(factors: Mapping[Head, float], layers: Mapping[Kind, int] | None = None) -> str:
    """A set of heads in words. With ``layers``, the number of heads per layer, a complete layer is named as one."""
    parts = []
    order = sorted(factors, key=lambda head: (KINDS.index(head.kind), head.layer, head.head))
    for (kind, layer), group in groupby(order, key=lambda head: (head.kind, head.layer)):
        members = list(group)
        whole = layers is not None and len(members) == layers.get(kind)
        whole_layer = _("all of {kind} L{layer}", kind=sentence_words.kind(kind), layer=layer)
        parts += [whole_layer] if whole else [sentence_words.head(*_place(head)) for head in members]
    return sentence_words.shortened(parts)


def _place(head: Head) -> tuple[Kind, int, int]:
    return head.kind, head.layer, head.head


@dataclass(frozen=True, slots=True)
class Moved:
    """One token, or one label of a text, and its probability before and after."""

    token: str
    was: float
    now: float


def most_moved(found: Ablation) -> Moved | None:
    """The token whose probability changes most; of a model that labels texts, the label. None without predictions."""
    if found.before is not None and found.after is not None:
        was, now = (np.exp(one.log_probability) for one in (found.before, found.after))
        labels = found.targets
    elif (scaled := _scaled(found)) is not None:
        said, changed = scaled
        was, now, labels = said.probabilities[0], changed.probabilities[0], said.labels
    else:
        return None
    most = int(np.argmax(np.abs(now - was)))
    return Moved(labels[most], float(was[most]), float(now[most]))


def notice(found: Ablation) -> str:
    """One sentence of what the ablation did to this text, with its numbers."""
    heads = {kind: found.record.attention(kind).shape[1] for kind in found.record.kinds}
    who = {"heads": name(found.factors, heads), "done": doing(set(found.factors.values()))}
    moved_most = most_moved(found)
    if found.before is None and moved_most is not None:
        said = {"token": quote(moved_most.token), "was": percent(moved_most.was), "now": percent(moved_most.now)}
        if said["was"] != said["now"]:
            return _("With {heads} {done}, {token} went from {was} to {now}.", **said, **who)
        return _(
            "With {heads} {done}, the probabilities of the labels hardly change: {token} stays at {now}.", **said, **who
        )
    if found.before is None or found.after is None or moved_most is None:
        most = int(found.distance.argmax())
        label = found.changed.attention(found.changed.kinds[-1]).query.labels[most]
        return _(
            "With {heads} {done}, {token} moved furthest: cosine distance {distance:.3f}.",
            token=quote(label),
            distance=found.distance[most],
            **who,
        )
    still = (found.divergence, found.distance, *found.attention.values())
    if found.effect == 0 and not any(np.any(part) for part in still):
        return _("With {heads} {done}, every number is bit-identical.", **who)
    was, now, target = percent(moved_most.was), percent(moved_most.now), moved_most.token
    change = found.after.log_probability - found.before.log_probability
    nats = ""
    if was != now:
        moved = mark("With {heads} {done}, {token} went from {was} to {now}.")
    elif np.abs(change).max() < QUIET:
        moved = mark("With {heads} {done}, the probabilities of its tokens hardly change: {token} stays at {now}.")
    else:
        most = int(np.abs(change).argmax())
        target, nats = found.targets[most], sentence_words.signed(float(change[most]), "+.2f")
        moved = mark("With {heads} {done}, log p of {token} changes by {nats} nats.")
    went = _(moved, token=quote(target), was=was, now=now, nats=nats, **who)
    rows, turned = len(found.rows), len(found.turned)
    best = (
        _("The best token changes at {turned} of {rows}", turned=turned, rows=rows)
        if turned
        else _("The best token stays the same at all {rows}", rows=rows)
    )
    effect = sentence_words.signed(found.effect, "+.2f")
    before, after = (float(np.exp(one.log_probability.sum())) for one in (found.before, found.after))
    was, now = percent(before), percent(after)
    if min(before, after) < SMALLEST:
        whole = mark("log p of its {tokens} changed by {effect} nats.")
    elif was == now:
        whole = mark("the probability of its {tokens} stays at {now} (log p {effect} nats).")
    else:
        whole = mark("the probability of its {tokens} went from {was} to {now} (log p {effect} nats).")
    changed = _(whole, tokens=count(rows), was=was, now=now, effect=effect)
    return f"{went} {best}; {changed}"


def _scaled(found: Ablation) -> tuple[Prediction, Prediction] | None:
    """What a model says of the text before and after, as probabilities of labels; None where it says no such thing."""
    was, now = found.said, found.changed.prediction
    if was is None or now is None or was.task != "text" or was.scale == "none":
        return None
    return was, now


def doing(factors: set[float]) -> str:
    """In words, what these factors do to heads."""
    if factors == {0.0}:
        return _("silenced")
    return _("multiplied by {factors}", factors=_(choices(f"{factor:g}" for factor in sorted(factors))))


def sweep_notice(sweep: Sweep) -> str:
    """One sentence: which head mattered most, and how many hardly did."""
    done, change, worst = doing({sweep.factor}), sweep.log_probability, sweep.ranked()[0]
    what = (
        _("With every other head of its layer {done}", done=done)
        if sweep.keep
        else _("With each head {done} in turn", done=done)
    )
    head = sentence_words.head(*_place(sweep.heads[worst]))
    if sweep.keep:
        head = _("{head} alone in its layer", head=head)
    if sweep.measures[0] == "labels":
        message = mark("{what}, {head} moves the probabilities of the labels most (KL {nats} nats).")
        return _(message, what=what, head=head, nats=f"{sweep.labels[worst]:.3g}")
    if sweep.measures == ("distance",):
        return _("{what}, {head} moves the hidden states most.", what=what, head=head)
    if np.abs(change).max() < ROUNDING:
        heads = len(sweep.heads)
        return _("{what}, none of {count} heads changes the log p of this text.", what=what, count=heads)
    signed = sentence_words.signed(change[worst], "+.2f"), sentence_words.signed(sweep.baseline, ".2f")
    filled = dict(zip(("head", "change", "baseline"), (head, *signed), strict=True))
    if change[worst] > -ROUNDING:
        costs = _("{head} raises log p least ({change} nats from {baseline}), and none lowers it", **filled)
    else:
        costs = _("{head} lowers log p most ({change} nats from {baseline})", **filled)
    return f"{what}: {costs}; {_little(change)}."


def _little(change: Floats) -> str:
    """A clause: how many heads hardly matter, and how many make the text likelier when they are changed."""
    few, better = int((np.abs(change) < 0.1).sum()), int((change > 0.1).sum())
    said = plural(
        "{count} of {all} changes it by less than 0.1",
        "{count} of {all} change it by less than 0.1",
        few,
        all=len(change),
    )
    if not better:
        return said
    likelier = plural(
        "{count} makes it likelier by more than that", "{count} make it likelier by more than that", better
    )
    return _("{one} and {other}", one=said, other=likelier)


def sweep_arrays(sweep: Sweep) -> dict[str, Floats]:
    """Each measure as one array (L, H) for each kind, by the name ``kind_measure``."""
    return {f"{kind}_{measure}": sweep.map(kind, measure) for kind in sweep.kinds for measure in sweep.measures}


def arrays(found: Ablation) -> dict[str, NDArray[np.generic]]:
    """All measured arrays, by name."""
    named: dict[str, NDArray[np.generic]] = {"rows": found.rows, "divergence": found.divergence}
    named |= {"distance": found.distance} | {f"attention_{kind}": one for kind, one in found.attention.items()}
    for side in ("before", "after"):
        guesses = getattr(found, side)
        if guesses is not None:
            named |= {f"{side}_log_probability": guesses.log_probability, f"{side}_best": guesses.best}
    return named
