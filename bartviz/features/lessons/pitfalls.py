"""How attention can mislead: means, sinks, shifted rows, weights without effect, and false reasons."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bartviz.analysis import contributions, head_view, start
from bartviz.arrays import Floats
from bartviz.features.lessons import facts
from bartviz.features.lessons.answers import Choice, Spot, Touch, strongest
from bartviz.features.lessons.cross import lacks_back, shifted
from bartviz.features.lessons.heads import followed, lacks_rest
from bartviz.features.lessons.heads_found import Place, at, back, hollow, resting, surest
from bartviz.features.lessons.lesson import Lesson, Step, Value, View
from bartviz.language import _
from bartviz.record.record import Record

HALF = 0.5  # of the heads
FORCED_ROW = 4  # of the record "given": "Haus" is forced


def _shifted_row(record: Record) -> int:
    """The row that predicts the word which the start page tells a newcomer to follow."""
    return start.row_of(record, "cross")


def _strongest(record: Record, row: int) -> tuple[Floats, int, float]:
    """A row of every head (L, H, K), the column with the largest mean, and the share of heads where it is largest."""
    attention = record.attention("cross")
    lines = np.stack([attention.layer(layer)[:, row] for layer in range(attention.shape[0])])  # (L, H, K)
    best = int(lines.mean(axis=(0, 1)).argmax())
    return lines, best, float((lines.argmax(axis=2) == best).mean())


def _row(record: Record) -> int:
    """The same row if fewer than half of the heads agree on it; else the word's row on which the fewest do."""
    assert record.output is not None
    row = _shifted_row(record)
    if _strongest(record, row)[2] < HALF:
        return row
    attention = record.attention("cross")
    best = head_view.mean(attention).argmax(axis=1)  # (Q,)
    agree = np.mean([(attention.layer(at).argmax(axis=2) == best).mean(axis=0) for at in range(attention.shape[0])], 0)
    rows = [one for one, special in enumerate(record.output.special) if not special]
    return min(rows, key=lambda one: float(agree[one]))  # agree: (Q,)


def _sure(record: Record) -> Place:
    """Which looks most at the token that the mean of all heads has."""
    return surest(record, _row(record), _strongest(record, _row(record))[1])


def _other(record: Record) -> Place:
    """Another head, which looks in that row most clearly at another word."""
    row, labels, found = _row(record), record.attention("cross").key.labels, back(record)
    key = facts.looks_at(record, "cross", *_sure(record), row)["key"]
    if labels[int(facts.weights(record, "cross", *found)[row].argmax())] != key:
        return found
    lines, _column, _agree = _strongest(record, row)
    same = np.array([label == key for label in labels])[lines.argmax(axis=2)]  # (L, H)
    layer, head = np.unravel_index(int(np.where(same, -1, lines.max(axis=2)).argmax()), same.shape)
    return int(layer), int(head)


def _hollow(record: Record) -> Place:
    return hollow(record, followed(record))


def _forced_head(record: Record) -> Place:
    """Which still looks at "car"."""
    return surest(record, FORCED_ROW, record.attention("cross").key.labels.index("car"))


def _name(head: Place) -> str:
    return f"L{head[0]}H{head[1]}"


def _mean(record: Record) -> dict[str, Any]:
    row = _row(record)
    lines, best, agree = _strongest(record, row)
    assert record.output is not None
    return {
        "predicts": record.output.labels[row],
        "key": record.attention("cross").key.labels[best],
        "mean": float(lines[..., best].mean()),
        "largest": float(lines[..., best].max()),
        "smallest": float(lines[..., best].min()),
        "heads": lines.shape[0] * lines.shape[1],
        "agree": int((lines.argmax(axis=2) == best).sum()),
        "few": agree < HALF,
    }


def _two(record: Record) -> dict[str, Any]:
    row, name = _row(record), _other(record)
    sure, other = (facts.looks_at(record, "cross", *head, row) for head in (_sure(record), name))
    return {
        **_mean(record),
        "other": other["key"],
        "other_weight": other["weight"],
        "other_name": _name(name),
        "key": sure["key"],
        "weight": sure["weight"],
        "differs": sure["key"] != other["key"],
        "clear": float(facts.weights(record, "cross", *_sure(record))[row].max()) > 0.6,
    }


def _rest(record: Record) -> dict[str, Any]:
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


def _hidden(record: Record) -> dict[str, Any]:
    weights, keys = facts.weights(record, "encoder", *resting(record)), record.attention("encoder").key
    kept = ~head_view.sinks(record.attention("encoder"))
    line = weights[followed(record), kept]  # what is left of the row
    labels = [label for label, keep in zip(keys.labels, kept, strict=True) if keep]
    best = int(line.argmax())
    return {
        "share": float(1 - line.sum()),
        "rest": float(line.sum()),
        "much": bool(line.sum() < 0.7),
        "all_rows": float(1 - weights[:, kept].sum(axis=1).mean()),
        "row": keys.labels[followed(record)],
        "key": labels[best],
        "divided": float(line[best] / line.sum()),
        "weight": float(line[best]),
    }


def _empty(record: Record) -> dict[str, Any]:
    attention, head, row = record.attention("encoder"), _hollow(record), followed(record)
    weights = facts.weights(record, "encoder", *head)[row]  # (K,)
    lengths = contributions.norms(attention, *head)[row]  # (K,)
    best, most = int(weights.argmax()), int(lengths.argmax())
    return {
        "row": attention.query.labels[row],
        "key": attention.key.labels[best],
        "weight": float(weights[best]),
        "share": float(lengths[best] / lengths.sum()),
        "hollow": bool(most != best and lengths[best] < lengths.sum() / 2),
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


def _lacks_spread(record: Record) -> str:
    return "" if _mean(record)["few"] else _("most heads look at the same word there")


def _lacks_choice(record: Record) -> str:
    found = _two(record)
    return "" if found["differs"] and found["clear"] else _("no two heads look clearly at different words there")


def _lacks_hidden(record: Record) -> str:
    few = _("little of the weight of that row lies on special tokens")
    return lacks_rest(record) or ("" if _hidden(record)["much"] else few)


def _lacks_hollow(record: Record) -> str:
    if not contributions.available(record.attention("encoder")):
        return _("this record was made without values")
    full = _("in no head a token with little weight adds more than the one with most of it")
    return "" if _empty(record)["hollow"] else full


def _in_row(find: Callable[[Record], Place], row: Callable[[Record], int], **view: Value) -> Callable[[Record], View]:
    return lambda record: {**at(find, **view)(record), "row": row(record)}


def _mean_of_all(record: Record) -> View:
    return {"kind": "cross", "weights": "all", "row": _row(record)}


LESSON = Lesson(
    "pitfalls",
    9,
    (
        Step("heads", _mean_of_all, facts=_mean, answer=Choice(), own=_lacks_spread),
        Step("heads", _in_row(_sure, _row, kind="cross"), facts=_two, answer=Choice(), own=_lacks_choice),
        Step("heads", _in_row(resting, followed, kind="encoder"), facts=_rest, answer=Choice(), own=lacks_rest),
        Step(
            "heads",
            _in_row(resting, followed, kind="encoder", hide=True, divide=True),
            facts=_hidden,
            answer=Choice(),
            own=_lacks_hidden,
        ),
        Step("heads", _in_row(back, _shifted_row, kind="cross"), facts=shifted, answer=Choice(), own=lacks_back),
        Step("inside", _in_row(_hollow, followed, kind="encoder"), facts=_empty, answer=Choice(), own=_lacks_hollow),
        Step(
            "heads",
            at(_forced_head, kind="cross", row=FORCED_ROW),
            facts=_forced,
            record="given",
            answer=Touch("column", _looked),
        ),
    ),
)
