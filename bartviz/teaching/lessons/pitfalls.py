"""How attention can mislead: means, sinks, shifted rows, weights without effect, and false reasons."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bartviz.analysis import contributions
from bartviz.record.record import Record
from bartviz.teaching.lessons import facts
from bartviz.teaching.lessons.lesson import Lesson, Step

ROW = 5  # reads "Auto", predicts "kaufen"
SURE, OTHER = (3, 2), (1, 4)  # two cross heads that look at different words in that row
REST, EMPTY = (3, 5), (1, 6)  # encoder heads: one rests on special tokens, one looks at a token that adds little
EMPTY_ROW = 4  # "buy"
FORCED = (3, 1)  # a cross head that still looks at "car" while "Haus" is forced


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
    }


def _two(record: Record) -> Mapping[str, object]:
    sure, other = (facts.looks_at(record, "cross", *head, ROW) for head in (SURE, OTHER))
    return {**_mean(record), "other": other["key"], "other_weight": other["weight"], "weight": sure["weight"]}


def _rest(record: Record) -> Mapping[str, object]:
    attention = record.attention("encoder")
    return {
        "share": facts.special_share(record, "encoder", *REST),
        "rows": len(attention.query),
        "even": float(np.mean(attention.key.special)),
    }


def _hidden(record: Record) -> Mapping[str, object]:
    weights, keys = facts.weights(record, "encoder", *REST), record.attention("encoder").key
    kept = np.array([not special and label != "." for special, label in zip(keys.special, keys.labels, strict=True)])
    line = weights[EMPTY_ROW, kept]  # what is left of the row "buy"
    labels = [label for label, keep in zip(keys.labels, kept, strict=True) if keep]
    best = int(line.argmax())
    return {
        "share": float(1 - line.sum()),
        "all_rows": float(1 - weights[:, kept].sum(axis=1).mean()),
        "row": keys.labels[EMPTY_ROW],
        "key": labels[best],
        "divided": float(line[best] / line.sum()),
        "weight": float(line[best]),
    }


def _shift(record: Record) -> Mapping[str, object]:
    assert record.output is not None
    values = facts.looks_at(record, "cross", *OTHER, ROW)
    return {**values, "predicts": record.output.labels[ROW], "reads": record.attention("cross").query.labels[ROW]}


def _empty(record: Record) -> Mapping[str, object]:
    attention = record.attention("encoder")
    weights = facts.weights(record, "encoder", *EMPTY)[EMPTY_ROW]  # (K,)
    lengths = contributions.norms(attention, *EMPTY)[EMPTY_ROW]  # (K,)
    best, most = int(weights.argmax()), int(lengths.argmax())
    return {
        "row": attention.query.labels[EMPTY_ROW],
        "key": attention.key.labels[best],
        "weight": float(weights[best]),
        "share": float(lengths[best] / lengths.sum()),
        "most": attention.key.labels[most],
        "most_share": float(lengths[most] / lengths.sum()),
        "most_weight": float(weights[most]),
    }


def _forced(record: Record) -> Mapping[str, object]:
    row = facts.predicting(record, "Haus")
    step = facts.step_of(record, "Haus")
    return {
        **facts.looks_at(record, "cross", *FORCED, row),
        "token": "Haus",
        "rather": step.candidates[0].label,
        "one_in": 1 / step.chosen.probability,
        "name": f"L{FORCED[0]}H{FORCED[1]}",
    }


LESSON = Lesson(
    "pitfalls",
    9,
    (
        Step("heads", {"kind": "cross", "weights": "all", "row": ROW}, facts=_mean),
        Step("heads", {"kind": "cross", "layer": SURE[0], "head": SURE[1], "row": ROW}, facts=_two),
        Step("heads", {"kind": "encoder", "layer": REST[0], "head": REST[1], "row": EMPTY_ROW}, facts=_rest),
        Step(
            "heads",
            {"kind": "encoder", "layer": REST[0], "head": REST[1], "row": EMPTY_ROW, "hide": True, "divide": True},
            facts=_hidden,
        ),
        Step("heads", {"kind": "cross", "layer": OTHER[0], "head": OTHER[1], "row": ROW}, facts=_shift),
        Step("inside", {"kind": "encoder", "layer": EMPTY[0], "head": EMPTY[1], "row": EMPTY_ROW}, facts=_empty),
        Step(
            "heads", {"kind": "cross", "layer": FORCED[0], "head": FORCED[1], "row": 4}, facts=_forced, record="given"
        ),
    ),
)
