"""Masks: which token may look at which, and how an added number forbids it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from bartviz.features.lessons import answers, facts
from bartviz.features.lessons.answers import Choice, Line, Number, Painted
from bartviz.features.lessons.heads_found import Place
from bartviz.features.lessons.lesson import Lesson, Step, View, any_record
from bartviz.record.record import Record

HEAD = (1, 4)  # of the decoder
ROW = 3  # reads "möchte", predicts "ein"


def _head(record: Record) -> Place:
    """A head of the decoder: that of the shipped record, or the nearest to it."""
    layers, heads = record.attention("decoder").shape[:2]
    return min(HEAD[0], layers - 1), min(HEAD[1], heads - 1)


def _row(record: Record) -> int:
    """A row that may see some tokens and not others."""
    return min(ROW, record.attention("decoder").shape[2] - 2)


def _closed(record: Record) -> Mapping[str, object]:
    masks = {kind: record.attention(kind).mask for kind in record.kinds}
    decoder = masks["decoder"]
    others = sum(int((~mask).sum()) for kind, mask in masks.items() if kind != "decoder")
    closed = (~decoder).sum(axis=1)  # (Q,)
    return {
        "closed": int(closed.sum()),
        "cells": decoder.size,
        "others": others,
        "widest": int(closed.max()),
        "open": others == 0,
    }


def _count(record: Record) -> float:
    return float((~record.attention("decoder").mask).sum())


def _may(record: Record) -> Mapping[str, object]:
    attention = record.attention("decoder")
    open_ = int(attention.mask[_row(record)].sum())
    return {
        "reads": attention.query.labels[_row(record)],
        "predicts": record.rows("decoder", "predicts").labels[_row(record)],
        "count": open_,
        "all": len(attention.query),
    }


def _seen(record: Record) -> float:
    return float(record.attention("decoder").mask[_row(record)].sum())


def _cross(record: Record) -> Mapping[str, object]:
    attention = record.attention("cross")
    open_ = int(attention.mask[0].sum())
    return {"rows": attention.shape[2], "keys": attention.shape[3], "last": attention.key.labels[-2], "open": open_}


def _added(record: Record) -> Mapping[str, object]:
    lowest = np.finfo(np.float32).min
    scores = record.attention("decoder").scores(*_head(record))
    return {
        "lowest": float(lowest),
        "largest": float(np.abs(scores).max()),
        "weight": float(np.exp(np.float32(lowest))),
        "power": float(np.exp(np.abs(scores).max())),
    }


def _shared(record: Record) -> Mapping[str, object]:
    weights = facts.weights(record, "decoder", *_head(record))  # (Q, K)
    least, most = weights.sum(axis=1).min(), weights.sum(axis=1).max()
    return {"first": float(weights[0, 0]), "least": float(least), "most": float(most), "rows": len(weights)}


def _bert(record: Record) -> Mapping[str, object]:
    mask = record.attention("encoder").mask
    return {
        "count": len(mask),
        "open": int(mask.sum()),
        "cells": mask.size,
        "closed": int((~mask).sum()),
        "all_open": bool(mask.all()),
    }


def _looking(record: Record) -> Place:
    """The head of the decoder whose guessed row is most on one token that is not its first."""
    layers, heads = record.attention("decoder").shape[:2]
    return max(
        ((layer, head) for layer in range(layers) for head in range(heads)),
        key=lambda place: float(facts.weights(record, "decoder", *place)[_guessed_row(record), 1:].max()),
    )


def _guessed_row(record: Record) -> int:
    """A row past the middle of what is written."""
    rows = record.attention("decoder").shape[2]
    return min(rows // 2 + 1, rows - 1)


def _guess(record: Record) -> Line:
    return answers.row_of(record, "decoder", _looking(record), _guessed_row(record))


def _guessed(record: Record) -> Mapping[str, object]:
    attention, row = record.attention("decoder"), _guessed_row(record)
    return {
        **facts.looks_at(record, "decoder", *_looking(record), row),
        "reads": attention.query.labels[row],
        "count": int(attention.mask[row].sum()),
        "all": len(attention.query),
    }


def _in(view: View, *, looks: bool = False) -> Callable[[Record], View]:
    """A view at the row of the lesson; ``looks``: and at its head."""

    def shown(record: Record) -> View:
        layer, head = _head(record)
        return {"row": _row(record), **({"layer": layer, "head": head} if looks else {}), **view}

    return shown


def _painted(record: Record) -> View:
    layer, head = _looking(record)
    view: View = {"kind": "decoder", "layer": layer, "head": head, "row": _guessed_row(record)}
    return {**view, "view": "text", "reading": "reads"}


LESSON = Lesson(
    "masks",
    7,
    (
        Step("masks", _in({}), facts=_closed, answer=Number(_count), own=any_record),
        Step("masks", _in({}), facts=_may, answer=Number(_seen), own=any_record),
        Step("masks", {"row": 0}, facts=_cross, answer=Choice(), own=any_record),
        Step("masks", _in({"view": "additive", "number": "lowest"}), facts=_added, answer=Choice(), own=any_record),
        Step("masks", _in({"view": "weights", "row": 0}, looks=True), facts=_shared, answer=Choice(), own=any_record),
        Step("inside", _in({"kind": "decoder"}, looks=True), facts=_may, answer=Choice(), own=any_record),
        Step(
            "heads", {"kind": "encoder", "layer": 2, "head": 0, "row": 9}, facts=_bert, record="words", answer=Choice()
        ),
        Step("heads", _painted, facts=_guessed, answer=Painted(_guess), own=any_record),
    ),
)
