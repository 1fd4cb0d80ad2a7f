"""What attention is: for each word that it writes, the model looks at the words of the source.

The words that are asked about are found in the record: that of the lower line whose ribbon the start page tells a
newcomer to follow, and that of the source which it looks at.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from bartviz.analysis import start
from bartviz.features.lessons import facts
from bartviz.features.lessons.answers import (
    Choice,
    Line,
    Number,
    Painted,
    Spot,
    Touch,
    cells_of_row,
    row_of,
    second,
    strongest,
    weakest,
)
from bartviz.features.lessons.heads_found import at, head_of, neighbour, once
from bartviz.features.lessons.lesson import Lesson, Step, View, any_record
from bartviz.language import _
from bartviz.record.record import Record
from bartviz.record.steps import Step as Decoded

DECODER = (1, 4)  # any head of the decoder
DECODER_ROW = 4  # any row in which some cells are closed


@once
def _row(record: Record) -> int:
    """The row that wrote the word which is followed."""
    return start.row_of(record, "cross")


@once
def _seen(record: Record) -> int:
    """The row of the encoder that is asked about: of the source word at the other end of that ribbon."""
    return start.row_of(record, "encoder")


def _word(record: Record) -> str:
    assert record.output is not None
    return record.output.labels[_row(record)]


def _lacks_pair(record: Record) -> str:
    """Why no ribbon can be followed in a record."""
    ribbons = start.ribbons(record)
    t = start.to_touch(ribbons)
    best = -1 if t is None else int(ribbons.weights[t].argmax())
    if t is None or best >= start.MOST_WORDS or ribbons.above[best].special:
        return _("no word of this text singles out one other word")
    return ""


def _ribbons(record: Record) -> Mapping[str, object]:
    layers, heads = record.attention("cross").shape[:2]
    ribbons, t = start.ribbons(record), _followed(record)
    s = int(ribbons.weights[t].argmax())
    return {
        "word": ribbons.below[t].text,
        "key": ribbons.above[s].text,
        "weight": float(ribbons.weights[t, s]),
        "heads": layers * heads,
        "crosses": any((t - row) * (s - column) < 0 for row, column in start.pairs(ribbons)),
    }


@once
def _followed(record: Record) -> int:
    """The word of the lower line that wrote the row."""
    return next(t for t, word in enumerate(start.ribbons(record).below) if word.end > _row(record))


def _words(record: Record) -> list[Spot]:
    """The words above, by how much the row of the word is on each."""
    ribbons = start.ribbons(record)
    return strongest(ribbons.weights[_followed(record)], [word.text for word in ribbons.above])


def _shared(record: Record) -> Mapping[str, object]:
    layers, heads = record.attention("cross").shape[:2]
    line = facts.weights(record, "cross", *head_of(record))[_row(record)]  # (K,)
    found = facts.looks_at(record, "cross", *head_of(record), _row(record))
    return {
        **found,
        "word": _word(record),
        "sum": float(line.sum()),
        "heads": layers * heads,
        "rest": float(1 - line.max()),
        "others": len(line) - 1,
        "remainder": float(1 - np.sort(line)[-2:].sum()),
        "remaining": len(line) - 2,
    }


def _sum(record: Record) -> float:
    return float(facts.weights(record, "cross", *head_of(record))[_row(record)].sum())


def _column(record: Record) -> Mapping[str, object]:
    sums = facts.weights(record, "cross", *head_of(record)).sum(axis=0)  # (K,)
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
    sums = facts.weights(record, "cross", *head_of(record)).sum(axis=0)  # (K,)
    return weakest(sums, record.attention("cross").key.labels)


def _previous(record: Record) -> Mapping[str, object]:
    weights, row = facts.weights(record, "encoder", *neighbour(record, -1)), _seen(record)
    back = weights.argmax(axis=1) == np.arange(len(weights)) - 1  # (Q,)
    return {
        **facts.looks_at(record, "encoder", *neighbour(record, -1), row),
        **facts.goes(weights, -1),
        "looks": record.source.labels[row],
        "before": bool(back[row]),
        "nearly": bool(back[1:].mean() >= 0.75),  # the first token has none before it
    }


def _cells(record: Record) -> list[Spot]:
    weights, labels = facts.weights(record, "encoder", *neighbour(record, -1)), record.source.labels
    return cells_of_row(weights, labels, labels, _seen(record))


def _closed(record: Record) -> Mapping[str, object]:
    mask = record.attention("decoder").mask
    return {"closed": int((~mask).sum()), "cells": mask.size}


def _step(record: Record) -> Decoded:
    """The step that wrote the word."""
    return next(step for step in record.steps if step.row == _row(record))


def _chosen(record: Record) -> Mapping[str, object]:
    return facts.chosen_at(_step(record))


def _candidates(record: Record) -> list[Spot]:
    return second(_step(record))


def _to_guess(record: Record) -> int:
    """The row that is painted: of another word, which looks most at one other word."""
    ribbons, followed = start.ribbons(record), _followed(record)
    rows = [t for t, word in enumerate(ribbons.below) if not word.special and t != followed]
    columns = [s for s, word in enumerate(ribbons.above) if not word.special]
    if not rows or not columns:
        return _row(record)
    best = max(rows, key=lambda t: float(ribbons.weights[t, columns].max()))
    return ribbons.below[best].start


def _guess(record: Record) -> Line:
    return row_of(record, "cross", head_of(record), _to_guess(record))


def _guessed(record: Record) -> Mapping[str, object]:
    assert record.output is not None
    row = _to_guess(record)
    return {**facts.looks_at(record, "cross", *head_of(record), row), "word": record.output.labels[row]}


def _row_of_guess(record: Record) -> View:
    return {**at(head_of, kind="cross", view="text")(record), "row": _to_guess(record)}


def _in_row(record: Record) -> View:
    return {**at(head_of, kind="cross", view="text")(record), "row": _row(record)}


def _in_map(record: Record) -> View:
    return {**_in_row(record), "view": "map"}


def _back(record: Record) -> View:
    return {**at(partial(neighbour, by=-1), kind="encoder")(record), "row": _seen(record)}


def _output(record: Record) -> View:
    layers, heads, rows, _keys = record.attention("decoder").shape
    layer, head = min(DECODER[0], layers - 1), min(DECODER[1], heads - 1)
    return {"kind": "decoder", "layer": layer, "head": head, "row": min(DECODER_ROW, rows - 1)}


def _decoding(record: Record) -> View:
    number = next(number for number, step in enumerate(record.steps, 1) if step.row == _row(record))
    return {**at(head_of, step_weights="head")(record), "step": number}


LESSON = Lesson(
    "attention",
    7,
    (
        Step("start", facts=_ribbons, answer=Touch("above", _words), own=_lacks_pair),
        Step("heads", _in_row, facts=_shared, answer=Number(_sum, share=True), own=any_record),
        Step("heads", _in_map, facts=_column, answer=Touch("column", _sums), own=any_record),
        Step("heads", _back, facts=_previous, answer=Touch("cell", _cells), own=any_record),
        Step("heads", _output, facts=_closed, answer=Choice(), own=any_record),
        Step("decoding", _decoding, facts=_chosen, answer=Touch("candidate", _candidates), own=any_record),
        Step("heads", _row_of_guess, facts=_guessed, answer=Painted(_guess), own=any_record),
    ),
)
