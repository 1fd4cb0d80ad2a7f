"""What attention is: for each word that it writes, the model looks at the words of the source."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from bartviz.analysis import start
from bartviz.features.lessons import facts
from bartviz.features.lessons.answers import Choice, Number, Spot, Touch, cells_of_row, second, strongest, weakest
from bartviz.features.lessons.heads_found import Place, at, neighbour
from bartviz.features.lessons.lesson import Lesson, Step
from bartviz.record.record import Record

ROW = 5  # reads "Auto", predicts "kaufen"
SEEN = "car"  # the row of the encoder that is asked about
DECODER = (1, 4)  # any head of the decoder
WORD = "kaufen"


def _head(record: Record) -> Place:
    """The head of the start page: one sentence is shown with one head."""
    head = start.head_of(record, "cross")
    return head.layer, head.head


def _ribbons(record: Record) -> Mapping[str, object]:
    layers, heads = record.attention("cross").shape[:2]
    rows = {word: facts.predicting(record, word) for word in (WORD, "Auto")}
    columns = {word: _best(record, row) for word, row in rows.items()}
    crosses = (rows[WORD] > rows["Auto"]) != (columns[WORD] > columns["Auto"])
    found = facts.looks_at(record, "cross", *_head(record), rows[WORD])
    return {**found, "heads": layers * heads, "crosses": crosses}


def _best(record: Record, row: int) -> int:
    return int(facts.weights(record, "cross", *_head(record))[row].argmax())


def _words(record: Record) -> list[Spot]:
    """The words above, by how much the row of the word is on each."""
    ribbons = start.ribbons(record)
    row = next(t for t, word in enumerate(ribbons.below) if word.text == WORD)
    return strongest(ribbons.weights[row], [word.text for word in ribbons.above])


def _row(record: Record) -> Mapping[str, object]:
    head = _head(record)
    line = facts.weights(record, "cross", *head)[ROW]  # (K,)
    found = facts.looks_at(record, "cross", *head, ROW)
    return {
        **found,
        "sum": float(line.sum()),
        "keys": len(line),
        "rest": float(1 - line.max()),
        "others": len(line) - 1,
    }


def _sum(record: Record) -> float:
    return float(facts.weights(record, "cross", *_head(record))[ROW].sum())


def _column(record: Record) -> Mapping[str, object]:
    sums = facts.weights(record, "cross", *_head(record)).sum(axis=0)  # (K,)
    labels = record.attention("cross").key.labels
    most, least = int(sums.argmax()), int(sums.argmin())
    return {
        "most": labels[most],
        "most_sum": float(sums[most]),
        "least": labels[least],
        "least_sum": float(sums[least]),
        "uneven": bool(sums[most] > 2 * sums[least]),
    }


def _sums(record: Record) -> list[Spot]:
    sums = facts.weights(record, "cross", *_head(record)).sum(axis=0)  # (K,)
    return weakest(sums, record.attention("cross").key.labels)


def _previous(record: Record) -> Mapping[str, object]:
    weights = facts.weights(record, "encoder", *neighbour(record, -1))
    back = weights.argmax(axis=1) == np.arange(len(weights)) - 1  # (Q,)
    return {
        **facts.looks_at(record, "encoder", *neighbour(record, -1), record.source.labels.index(SEEN)),
        **facts.goes(weights, -1),
        "looks": SEEN,
        "nearly": bool(back[1:].mean() >= 0.75),  # the first token has none before it
    }


def _cells(record: Record) -> list[Spot]:
    weights, labels = facts.weights(record, "encoder", *neighbour(record, -1)), record.source.labels
    return cells_of_row(weights, labels, labels, labels.index(SEEN))


def _closed(record: Record) -> Mapping[str, object]:
    mask = record.attention("decoder").mask
    return {"closed": int((~mask).sum()), "cells": mask.size}


def _kaufen(record: Record) -> Mapping[str, object]:
    return facts.chosen(record, WORD)


def _candidates(record: Record) -> list[Spot]:
    return second(facts.step_of(record, WORD))


LESSON = Lesson(
    "attention",
    6,
    (
        Step("start", facts=_ribbons, answer=Touch("above", _words)),
        Step("heads", at(_head, kind="cross", row=ROW, view="text"), facts=_row, answer=Number(_sum)),
        Step("heads", at(_head, kind="cross", row=ROW), facts=_column, answer=Touch("column", _sums)),
        Step(
            "heads", at(partial(neighbour, by=-1), kind="encoder", row=6), facts=_previous, answer=Touch("cell", _cells)
        ),
        Step(
            "heads",
            {"kind": "decoder", "layer": DECODER[0], "head": DECODER[1], "row": 4, "reading": "reads"},
            facts=_closed,
            answer=Choice(),
        ),
        Step("decoding", at(_head, step=6, step_weights="head"), facts=_kaufen, answer=Touch("candidate", _candidates)),
    ),
)
