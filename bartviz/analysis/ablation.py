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
from bartviz.analysis.readonly import LONGEST, Brief, array_bytes
from bartviz.arrays import Floats, Ints
from bartviz.errors import SettingError, choices
from bartviz.language import _, later, mark, plural
from bartviz.language.percentages import percent
from bartviz.record.attention import KINDS, Head, Kind
from bartviz.record.prediction import Prediction
from bartviz.record.record import Record

if TYPE_CHECKING:
    import pandas as pd

Measure = Literal[
    "log_probability",
    "divergence",
    "changed",
    "labels",
    "label_log_probability",
    "label_margin",
    "value_change",
    "distance",
]
MEASURES: tuple[Measure, ...] = get_args(Measure)
UNITS: Mapping[Measure, str] = {
    "log_probability": mark("change of log p, nats"),
    "divergence": mark("mean KL, nats"),
    "changed": mark("best tokens changed"),
    "labels": mark("KL of the labels, nats"),
    "label_log_probability": mark("change of log p of the label, nats"),
    "label_margin": mark("change of the label's margin"),
    "value_change": mark("change of the value"),
    "distance": mark("mean cosine distance"),
}
OF_WORDS: tuple[Measure, ...] = ("log_probability", "divergence", "changed")
OF_LABELS: tuple[Measure, ...] = ("labels", "label_log_probability", "label_margin")
SIGNED: tuple[Measure, ...] = ("log_probability", "label_log_probability", "label_margin", "value_change")
FALLING: tuple[Measure, ...] = ("log_probability", "label_log_probability", "label_margin")
"""What is less sure without a head that matters: the largest fall ranks first, and of other measures the largest."""
ROUNDING = 1e-4  # nats; a smaller change of log p is float32 arithmetic in another order
QUIET = 0.05  # nats; below it no change of a token's log p is worth a word
SMALLEST = 1e-3  # probability of a text; a smaller one is not told: its change is


@dataclass(frozen=True, eq=False, repr=False)
class Guesses(Brief):
    """Predictions of a run at T rows: log p of the target (nats), and its best token: id, label, probability."""

    log_probability: Floats
    best: Ints
    labels: tuple[str, ...]
    probability: Floats


@dataclass(frozen=True, slots=True)
class Whole:
    """The probability of a whole text, the product of its tokens', before and after a change; ``times`` as likely it is
    after."""

    was: float
    now: float
    times: float

    @property
    def told(self) -> bool:
        """Whether a reader can compare both probabilities: those of long texts are tiny, and two may be written alike.
        Else their quotient says more."""
        return min(self.was, self.now) >= SMALLEST and percent(self.was) != percent(self.now)


def of_whole(before: Guesses, after: Guesses) -> Whole:
    """What a change does to the probability of the whole text whose tokens are the targets of both."""
    was, now = (float(one.log_probability.sum(dtype=np.float64)) for one in (before, after))
    return Whole(*map(prediction.times, (was, now, now - was)))


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
    ``changed.prediction`` after it; None without one. ``mean``: heads were scaled toward a mean in place of 0.
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
    mean: bool = False

    def __repr__(self) -> str:
        heads = [f"{head} x {factor:g}" for head, factor in self.factors.items()]
        more = f" and {len(heads) - LONGEST} more" if len(heads) > LONGEST else ""
        if self.before is not None:
            effect = f"log p {self.effect:+.4g} nats, {len(self.turned)} of {len(self.rows)} best tokens changed"
        elif np.isfinite(self.labels):
            effect = f"KL of the labels {self.labels:.4g} nats"
        elif np.isfinite(self.value_change):
            effect = f"value {self.value_change:+.4g}"
        else:
            effect = f"largest cosine distance of a state {self.distance.max():.4g}"
        return f"<Ablation of {', '.join(heads[:LONGEST])}{more}: {effect}>"

    @property
    def effect(self) -> float:
        """Change of the sum of log p of the targets, in nats: negative where the model now finds them less likely.

        Of a model that labels what it reads, and predicts no tokens, it is ``label_log_probability``; of one that gives
        a number, ``value_change``; NaN for a model that says nothing.
        """
        if self.before is None or self.after is None:
            change = self.label_change
            return change.log_probability if np.isfinite(change.log_probability) else change.value
        return float(self.after.log_probability.sum(dtype=np.float64) - self.before.log_probability.sum(dtype=float))

    @property
    def labels(self) -> float:
        """How far the probabilities of the labels move, KL(before || after) in nats (``prediction.divergence``): of the
        text, the mean of its tokens, or of the two ends of an answer; NaN for a model that labels nothing."""
        return self.label_change.divergence

    @property
    def label_log_probability(self) -> float:
        """The change of the log probability of the label that is said, in nats: negative where it is less likely now
        (``prediction.said_label``); NaN for a model that labels nothing."""
        return self.label_change.log_probability

    @property
    def label_margin(self) -> float:
        """The change of how far that label's logit is above the best other one's; NaN as above."""
        return self.label_change.margin

    @property
    def label_turned(self) -> float:
        """The share of what is said in whose place another label is said now, 0..1 (``prediction.turned``)."""
        return self.label_change.turned

    @property
    def value_change(self) -> float:
        """The change of the number that a head for regression gives, in its own unit; NaN for any other model."""
        return self.label_change.value

    @property
    def label_change(self) -> prediction.LabelChange:
        """All numbers of what the head says."""
        return prediction.change(self.said, self.changed.prediction, ~self.record.source.special)

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
    """Every head of some kinds scaled by ``factor``, one after the other; with ``keep`` all *other* heads of its layer;
    with ``mean`` toward a mean in place of 0.

    Arrays (N,) in the order of ``heads``: ``log_probability`` the change of the summed log p of the record's tokens
    (nats, negative: less likely; NaN where the model does not predict tokens), ``divergence`` the mean KL of a row
    (nats), ``changed`` the number of rows whose best token is another one, ``distance`` the mean 1 - cosine of the last
    state. Of a model that was fine-tuned to label, empty or NaN for others: ``labels`` the KL of what its head says
    (nats), ``label_log_probability`` and ``label_margin`` the changes of the label that it said
    (``prediction.said_label``), ``label_turned`` the share of labels that are others now (``prediction.turned``), and
    ``value_change`` that of a number that it gives instead (regression).
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
    mean: bool = False
    labels: Floats = field(default_factory=lambda: np.zeros(0, np.float32))
    label_log_probability: Floats = field(default_factory=lambda: np.zeros(0, np.float32))
    label_margin: Floats = field(default_factory=lambda: np.zeros(0, np.float32))
    label_turned: Floats = field(default_factory=lambda: np.zeros(0, np.float32))
    value_change: Floats = field(default_factory=lambda: np.zeros(0, np.float32))

    @property
    def kinds(self) -> tuple[Kind, ...]:
        return tuple(dict.fromkeys(head.kind for head in self.heads))

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures that this model has."""
        missing = set() if np.isfinite(self.log_probability).all() else {*OF_WORDS}
        missing |= {measure for measure in (*OF_LABELS, "value_change") if not _measured(getattr(self, measure))}
        return tuple(measure for measure in MEASURES if measure not in missing)

    def values(self, measure: Measure) -> Floats:
        """(N,) the values of one measure. Raises SettingError."""
        if measure not in self.measures:
            raise SettingError(later("A sweep of this model is measured by {choices}.", choices=choices(self.measures)))
        return np.asarray(getattr(self, measure), np.float32)

    def to_dataframe(self) -> pd.DataFrame:
        """A line for each head, in the order of ``ranked``: kind, layer, head, and each of ``measures``."""
        import pandas as pd

        order = list(self.ranked())
        place = {name: [getattr(self.heads[one], name) for one in order] for name in ("kind", "layer", "head")}
        return pd.DataFrame(place | {measure: getattr(self, measure)[order] for measure in self.measures})

    def __repr__(self) -> str:
        measure = self.measures[0]
        values = self.values(measure)
        most = (f"{self.heads[one]} {values[one]:.3g}" for one in self.ranked()[:LONGEST])
        alone = ", all others of the layer instead" if self.keep else ""
        return (
            f"<Sweep of {len(self.heads)} heads x {self.factor:g}{alone}: {UNITS[measure]}: "
            f"{', '.join(most)}, ...; .to_dataframe() has all>"
        )

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
        """Indices of the heads by effect, largest first: the greatest fall of what is sure (log p, the margin), the
        largest change of a number either way, else the largest value."""
        chosen = measure or self.measures[0]
        values = self.values(chosen)
        order = values if chosen in FALLING else -np.abs(values)
        return tuple(int(i) for i in np.argsort(order, kind="stable"))


def _measured(values: Floats) -> bool:
    return bool(len(values) and np.isfinite(values).all())


def sweep_table(sweep: Sweep) -> pd.DataFrame:
    """One line for each head, the largest effect first."""
    import pandas as pd

    order = list(sweep.ranked())
    heads = [sweep.heads[place] for place in order]
    words = {
        "log p change (nats)": sweep.log_probability[order],
        "mean KL (nats)": sweep.divergence[order],
        "best tokens changed": sweep.changed[order],
    }
    labels, value = {}, {}
    if "labels" in sweep.measures:
        labels = {
            "KL of the labels (nats)": sweep.labels[order],
            "log p of the label, change (nats)": sweep.label_log_probability[order],
            "margin of the label, change": sweep.label_margin[order],
            "share of labels changed": sweep.label_turned[order],
        }
    if "value_change" in sweep.measures:
        value = {"value, change": sweep.value_change[order]}
    return pd.DataFrame(
        {
            "rank": np.arange(1, len(order) + 1),
            "kind": [head.kind for head in heads],
            "layer": [head.layer for head in heads],
            "head": [head.head for head in heads],
            **(words if "log_probability" in sweep.measures or not (labels or value) else {}),
            **labels,
            **value,
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
    """One token, one label of a text or of a token, or an answer, and its probability before and after. ``row``: of
    the stack that predicts the token; None for labels and answers."""

    token: str
    was: float
    now: float
    row: int | None = None


def most_moved(found: Ablation) -> Moved | None:
    """The token whose probability changes most; of a model that labels, the label of the text or of a token, or the
    answer that it gave. None without predictions."""
    if found.before is None or found.after is None:
        return None if (said := _said(found)) is None else _moved_label(found, *said)
    was, now = (np.exp(one.log_probability) for one in (found.before, found.after))
    most = int(np.argmax(np.abs(now - was)))
    return Moved(found.targets[most], float(was[most]), float(now[most]), int(found.rows[most]))


def _moved_label(found: Ablation, was: Prediction, now: Prediction) -> Moved | None:
    p, q = was.probabilities, now.probabilities
    if was.scale == "none":
        return None
    if was.task == "answer":
        answer = prediction.answer(found.record, was)
        if answer is None:
            return None
        return Moved(answer.text, answer.probability, float(q[answer.first, 0]) * float(q[answer.last, 1]))
    if was.task == "text":
        most = int(np.abs(q[0] - p[0]).argmax())
        return Moved(was.labels[most], float(p[0, most]), float(q[0, most]))
    rows = _labelled(found, len(p))
    said = p[rows].argmax(axis=1)
    before, after = (one[rows, said] for one in (p, q))
    most = int(np.abs(after - before).argmax())
    token = found.record.source.labels[rows[most]]
    return Moved(f"{token}: {was.labels[said[most]]}", float(before[most]), float(after[most]))


def _labelled(found: Ablation, count: int) -> Ints:
    """The tokens whose labels count: those that are not special, if there are any."""
    words = np.flatnonzero(~found.record.source.special[:count])
    return words if len(words) else np.arange(count)


def value(found: Ablation) -> tuple[str, float, float] | None:
    """The number that a head for regression gives and that changes most: its name, before, after; None without."""
    said = _said(found)
    if said is None or said[0].scale != "none":
        return None
    was, now = (one.logits[0].astype(np.float64) for one in said)
    most = int(np.abs(now - was).argmax())
    return said[0].labels[most], float(was[most]), float(now[most])


def labels_table(found: Ablation) -> pd.DataFrame | None:
    """What the head says before and after, a line for each label of a text, for each token that is labelled, or for the
    start and end of an answer; None for a model that labels nothing."""
    import pandas as pd

    said = _said(found)
    if said is None:
        return None
    was, now = said
    p, q = was.probabilities, now.probabilities
    if was.task == "text":
        names = ("value before", "value after") if was.scale == "none" else ("p before", "p after")
        return pd.DataFrame({"label": was.labels, **dict(zip(names, (p[0], q[0]), strict=True))})
    axis = 0 if was.task == "answer" else 1
    best, other = p.argmax(axis=axis), q.argmax(axis=axis)
    if was.task == "answer":
        labels, ends = found.record.source.labels, np.arange(2)
        said_at = {"token": [labels[place] for place in best], "token after": [labels[place] for place in other]}
        return pd.DataFrame({"label": was.labels, **said_at, "p before": p[best, ends], "p after": q[best, ends]})
    rows = _labelled(found, len(p))
    return pd.DataFrame(
        {
            "token": [found.record.source.labels[row] for row in rows],
            "label": [was.labels[best[row]] for row in rows],
            "label after": [was.labels[other[row]] for row in rows],
            "p before": p[rows, best[rows]],
            "p after": q[rows, best[rows]],
        }
    )


def notice(found: Ablation) -> str:
    """One sentence of what the ablation did to this text, with its numbers."""
    heads = {kind: found.record.attention(kind).shape[1] for kind in found.record.kinds}
    who = {"heads": name(found.factors, heads), "done": doing(set(found.factors.values()), mean=found.mean)}
    moved_most = most_moved(found)
    if found.before is None and (number := value(found)) is not None:
        label, first, second = number
        said = {"token": quote(label), "was": f"{first:.3f}", "now": f"{second:.3f}"}
        return _("With {heads} {done}, the value {token} went from {was} to {now}.", **said, **who)
    if found.before is None and moved_most is not None:
        said = {"token": quote(moved_most.token), "was": percent(moved_most.was), "now": percent(moved_most.now)}
        went = mark("With {heads} {done}, {token} went from {was} to {now}.")
        if said["was"] == said["now"]:
            went = mark("With {heads} {done}, the probabilities of the labels hardly change: {token} stays at {now}.")
        return f"{_(went, **said, **who)} {_label_numbers(found)}"
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
    whole = of_whole(found.before, found.after)
    was, now = percent(whole.was), percent(whole.now)
    if whole.told:
        message = mark("the probability of its {tokens} went from {was} to {now} (log p {effect} nats).")
    elif min(whole.was, whole.now) < SMALLEST:
        message = mark("log p of its {tokens} changed by {effect} nats.")
    else:
        message = mark("the probability of its {tokens} stays at {now} (log p {effect} nats).")
    changed = _(message, tokens=count(rows), was=was, now=now, effect=effect)
    return f"{went} {best}; {changed}"


def _said(found: Ablation) -> tuple[Prediction, Prediction] | None:
    """What a model's head says before and after; None for a model that labels nothing."""
    was, now = found.said, found.changed.prediction
    return None if was is None or now is None else (was, now)


def _label_numbers(found: Ablation) -> str:
    """A sentence: log p, margin and KL of what the head says."""
    change = found.label_change
    log_p, margin = (sentence_words.signed(one, "+.2f") for one in (change.log_probability, change.margin))
    numbers = {"log_p": log_p, "margin": margin, "kl": f"{change.divergence:.3g}"}
    if np.isnan(change.margin):
        return _("Log p of what it says: {log_p} nats; KL {kl} nats.", **numbers)
    return _("Log p of what it says: {log_p} nats, its margin {margin}; KL {kl} nats.", **numbers)


def doing(factors: set[float], *, mean: bool = False) -> str:
    """In words, what these factors do to heads."""
    if factors == {0.0}:
        return _("replaced by the mean") if mean else _("silenced")
    if mean:
        shown = _(choices(f"{factor:g}" for factor in sorted(factors)))
        return _("multiplied by {factors} toward the mean", factors=shown)
    return _("multiplied by {factors}", factors=_(choices(f"{factor:g}" for factor in sorted(factors))))


def sweep_notice(sweep: Sweep) -> str:
    """One sentence: which head mattered most, and how many hardly did."""
    done, change, worst = doing({sweep.factor}, mean=sweep.mean), sweep.log_probability, sweep.ranked()[0]
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
    if sweep.measures[0] == "value_change":
        moved = sentence_words.signed(float(sweep.value_change[worst]), "+.3g")
        return _("{what}, {head} changes the value most ({change}).", what=what, head=head, change=moved)
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
