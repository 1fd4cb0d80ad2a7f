"""How attention can mislead: means, sinks, shifted rows, weights without effect, and false reasons."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bartviz.analysis import contributions
from bartviz.features.lessons import facts
from bartviz.features.lessons.answers import Choice, Spot, Touch, strongest
from bartviz.features.lessons.heads_found import Place, at, back, hollow, resting, surest
from bartviz.features.lessons.lesson import Lesson, Step
from bartviz.record.record import Record

ROW = 5  # reads "Auto", predicts "kaufen"
EMPTY_ROW = 4  # "buy"
FORCED_ROW = 4  # of the record "given": "Haus" is forced


def _sure(record: Record) -> Place:
    """Which looks at the verb, and at little else."""
    return surest(record, ROW, "buy")


def _hollow(record: Record) -> Place:
    return hollow(record, EMPTY_ROW)


def _forced_head(record: Record) -> Place:
    """Which still looks at "car"."""
    return surest(record, FORCED_ROW, "car")


def _name(head: Place) -> str:
    return f"L{head[0]}H{head[1]}"


def _mean(record: Record) -> Mapping[str, object]:
    attention = record.attention("cross")
    lines = np.stack([attention.layer(layer)[:, ROW] for layer in range(attention.shape[0])])  # (L, H, K)
    mean, labels = lines.mean(axis=(0, 1)), attention.key.labels
    best = int(mean.argmax())
    return {
        "key": labels[best],
        "mean": float(mean[best]),
        "largest": float(lines[..., best].max()),
        "smallest": float(lines[..., best].min()),
        "heads": lines.shape[0] * lines.shape[1],
        "agree": int((lines.argmax(axis=2) == best).sum()),
        "few": bool((lines.argmax(axis=2) == best).mean() < 0.5),
    }


def _two(record: Record) -> Mapping[str, object]:
    sure, other = (facts.looks_at(record, "cross", *head, ROW) for head in (_sure(record), back(record)))
    return {
        **_mean(record),
        "other": other["key"],
        "other_weight": other["weight"],
        "other_name": _name(back(record)),
        "weight": sure["weight"],
        "differs": sure["key"] != other["key"],
    }


def _rest(record: Record) -> Mapping[str, object]:
    attention = record.attention("encoder")
    layers, heads = attention.shape[:2]
    shares = [facts.special_share(record, "encoder", *place) for place in np.ndindex(layers, heads)]
    return {
        "share": facts.special_share(record, "encoder", *resting(record)),
        "heads": layers * heads,
        "least": min(shares),
        "rows": len(attention.query),
        "even": float(np.mean(attention.key.special)),
    }


def _hidden(record: Record) -> Mapping[str, object]:
    weights, keys = facts.weights(record, "encoder", *resting(record)), record.attention("encoder").key
    kept = np.array([not special and label != "." for special, label in zip(keys.special, keys.labels, strict=True)])
    line = weights[EMPTY_ROW, kept]  # what is left of the row "buy"
    labels = [label for label, keep in zip(keys.labels, kept, strict=True) if keep]
    best = int(line.argmax())
    return {
        "share": float(1 - line.sum()),
        "rest": float(line.sum()),
        "all_rows": float(1 - weights[:, kept].sum(axis=1).mean()),
        "row": keys.labels[EMPTY_ROW],
        "key": labels[best],
        "divided": float(line[best] / line.sum()),
        "weight": float(line[best]),
    }


def _shift(record: Record) -> Mapping[str, object]:
    assert record.output is not None
    values = facts.looks_at(record, "cross", *back(record), ROW)
    return {**values, "predicts": record.output.labels[ROW], "reads": record.attention("cross").query.labels[ROW]}


def _empty(record: Record) -> Mapping[str, object]:
    attention, head = record.attention("encoder"), _hollow(record)
    weights = facts.weights(record, "encoder", *head)[EMPTY_ROW]  # (K,)
    lengths = contributions.norms(attention, *head)[EMPTY_ROW]  # (K,)
    best, most = int(weights.argmax()), int(lengths.argmax())
    return {
        "row": attention.query.labels[EMPTY_ROW],
        "key": attention.key.labels[best],
        "weight": float(weights[best]),
        "share": float(lengths[best] / lengths.sum()),
        "hollow": bool(lengths[best] < lengths.sum() / 2),
        "even": 1 / len(lengths),
        "most": attention.key.labels[most],
        "most_share": float(lengths[most] / lengths.sum()),
        "most_weight": float(weights[most]),
    }


def _forced(record: Record) -> Mapping[str, object]:
    step, head = facts.step_of(record, "Haus"), _forced_head(record)
    return {
        **facts.looks_at(record, "cross", *head, FORCED_ROW),
        "token": "Haus",
        "rather": step.candidates[0].label,
        "one_in": 1 / step.chosen.probability,
        "name": _name(head),
    }


def _looked(record: Record) -> list[Spot]:
    line = facts.weights(record, "cross", *_forced_head(record))[FORCED_ROW]  # (K,)
    return strongest(line, record.attention("cross").key.labels)


LESSON = Lesson(
    "pitfalls",
    9,
    (
        Step("heads", {"kind": "cross", "weights": "all", "row": ROW}, facts=_mean, answer=Choice()),
        Step("heads", at(_sure, kind="cross", row=ROW), facts=_two, answer=Choice()),
        Step("heads", at(resting, kind="encoder", row=EMPTY_ROW), facts=_rest, answer=Choice()),
        Step(
            "heads", at(resting, kind="encoder", row=EMPTY_ROW, hide=True, divide=True), facts=_hidden, answer=Choice()
        ),
        Step("heads", at(back, kind="cross", row=ROW), facts=_shift, answer=Choice()),
        Step("inside", at(_hollow, kind="encoder", row=EMPTY_ROW), facts=_empty, answer=Choice()),
        Step(
            "heads",
            at(_forced_head, kind="cross", row=FORCED_ROW),
            facts=_forced,
            record="given",
            answer=Touch("column", _looked),
        ),
    ),
)
