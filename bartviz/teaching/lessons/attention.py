"""What attention is: for each word that it writes, the model looks at the words of the source."""

from __future__ import annotations

from collections.abc import Mapping

from bartviz.analysis import start
from bartviz.record.record import Record
from bartviz.teaching.lessons import facts
from bartviz.teaching.lessons.lesson import Lesson, Step

ALIGNS = (2, 0)  # the cross head of the ribbons
ROW = 5  # reads "Auto", predicts "kaufen"
PREVIOUS = (2, 4)  # an encoder head that looks one token back
BACK = (1, 4)  # a decoder head
WORD = "kaufen"


def _ribbons(record: Record) -> Mapping[str, object]:
    found = start.ribbons(record)
    layers, heads = record.attention("cross").shape[:2]
    row = facts.predicting(record, WORD)
    return {**facts.looks_at(record, "cross", found.head.layer, found.head.head, row), "heads": layers * heads}


def _row(record: Record) -> Mapping[str, object]:
    line = facts.weights(record, "cross", *ALIGNS)[ROW]  # (K,)
    found = facts.looks_at(record, "cross", *ALIGNS, ROW)
    return {**found, "sum": float(line.sum()), "keys": len(line), "rest": float(1 - line.max())}


def _column(record: Record) -> Mapping[str, object]:
    sums = facts.weights(record, "cross", *ALIGNS).sum(axis=0)  # (K,)
    labels = record.attention("cross").key.labels
    most, least = int(sums.argmax()), int(sums.argmin())
    return {
        "most": labels[most],
        "most_sum": float(sums[most]),
        "least": labels[least],
        "least_sum": float(sums[least]),
    }


def _previous(record: Record) -> Mapping[str, object]:
    line = facts.weights(record, "encoder", *PREVIOUS)  # (Q, K)
    return {**facts.looks_at(record, "encoder", *PREVIOUS, 6), **facts.goes(line, -1)}


def _kaufen(record: Record) -> Mapping[str, object]:
    return facts.chosen(record, WORD)


LESSON = Lesson(
    "attention",
    6,
    (
        Step("start", facts=_ribbons),
        Step("heads", {"kind": "cross", "layer": ALIGNS[0], "head": ALIGNS[1], "row": ROW, "view": "text"}, facts=_row),
        Step("heads", {"kind": "cross", "layer": ALIGNS[0], "head": ALIGNS[1], "row": ROW}, facts=_column),
        Step("heads", {"kind": "encoder", "layer": PREVIOUS[0], "head": PREVIOUS[1], "row": 6}, facts=_previous),
        Step("heads", {"kind": "decoder", "layer": BACK[0], "head": BACK[1], "row": 4, "reading": "reads"}),
        Step("decoding", {"step": 6}, facts=_kaufen),
    ),
)
