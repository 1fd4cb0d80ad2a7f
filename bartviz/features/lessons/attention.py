"""What attention is: for each word that it writes, the model looks at the words of the source."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from bartviz.analysis import start
from bartviz.features.lessons import facts
from bartviz.features.lessons.heads_found import Place, at, neighbour
from bartviz.features.lessons.lesson import Lesson, Step
from bartviz.record.record import Record

ROW = 5  # reads "Auto", predicts "kaufen"
DECODER = (1, 4)  # any head of the decoder
WORD = "kaufen"


def _head(record: Record) -> Place:
    """The head of the start page: one sentence is shown with one head."""
    head = start.head_of(record, "cross")
    return head.layer, head.head


def _ribbons(record: Record) -> Mapping[str, object]:
    layers, heads = record.attention("cross").shape[:2]
    row = facts.predicting(record, WORD)
    return {**facts.looks_at(record, "cross", *_head(record), row), "heads": layers * heads}


def _row(record: Record) -> Mapping[str, object]:
    head = _head(record)
    line = facts.weights(record, "cross", *head)[ROW]  # (K,)
    found = facts.looks_at(record, "cross", *head, ROW)
    return {**found, "sum": float(line.sum()), "keys": len(line), "rest": float(1 - line.max())}


def _column(record: Record) -> Mapping[str, object]:
    sums = facts.weights(record, "cross", *_head(record)).sum(axis=0)  # (K,)
    labels = record.attention("cross").key.labels
    most, least = int(sums.argmax()), int(sums.argmin())
    return {
        "most": labels[most],
        "most_sum": float(sums[most]),
        "least": labels[least],
        "least_sum": float(sums[least]),
    }


def _previous(record: Record) -> Mapping[str, object]:
    head = neighbour(record, -1)
    return {**facts.looks_at(record, "encoder", *head, 6), **facts.goes(facts.weights(record, "encoder", *head), -1)}


def _kaufen(record: Record) -> Mapping[str, object]:
    return facts.chosen(record, WORD)


LESSON = Lesson(
    "attention",
    6,
    (
        Step("start", facts=_ribbons),
        Step("heads", at(_head, kind="cross", row=ROW, view="text"), facts=_row),
        Step("heads", at(_head, kind="cross", row=ROW), facts=_column),
        Step("heads", at(partial(neighbour, by=-1), kind="encoder", row=6), facts=_previous),
        Step("heads", {"kind": "decoder", "layer": DECODER[0], "head": DECODER[1], "row": 4, "reading": "reads"}),
        Step("decoding", at(_head, step=6, step_weights="head"), facts=_kaufen),
    ),
)
