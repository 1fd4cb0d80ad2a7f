"""Masks: which token may look at which, and how an added number forbids it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bartviz.features.lessons import facts
from bartviz.features.lessons.answers import Choice, Number
from bartviz.features.lessons.lesson import Lesson, Step
from bartviz.record.record import Record

HEAD = (1, 4)  # of the decoder
ROW = 3  # reads "möchte", predicts "ein"


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
    open_ = int(attention.mask[ROW].sum())
    return {
        "reads": attention.query.labels[ROW],
        "predicts": record.rows("decoder", "predicts").labels[ROW],
        "count": open_,
        "all": len(attention.query),
    }


def _seen(record: Record) -> float:
    return float(record.attention("decoder").mask[ROW].sum())


def _cross(record: Record) -> Mapping[str, object]:
    attention = record.attention("cross")
    open_ = int(attention.mask[0].sum())
    return {"rows": attention.shape[2], "keys": attention.shape[3], "last": attention.key.labels[-2], "open": open_}


def _added(record: Record) -> Mapping[str, object]:
    lowest = np.finfo(np.float32).min
    scores = record.attention("decoder").scores(*HEAD)
    return {
        "lowest": float(lowest),
        "largest": float(np.abs(scores).max()),
        "weight": float(np.exp(np.float32(lowest))),
        "power": float(np.exp(np.abs(scores).max())),
    }


def _shared(record: Record) -> Mapping[str, object]:
    weights = facts.weights(record, "decoder", *HEAD)  # (Q, K)
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


LESSON = Lesson(
    "masks",
    6,
    (
        Step("masks", {"row": ROW}, facts=_closed, answer=Number(_count)),
        Step("masks", {"row": ROW}, facts=_may, answer=Number(_seen)),
        Step("masks", {"row": 0}, facts=_cross, answer=Choice()),
        Step("masks", {"view": "additive", "number": "lowest", "row": ROW}, facts=_added, answer=Choice()),
        Step("masks", {"view": "weights", "layer": HEAD[0], "head": HEAD[1], "row": 0}, facts=_shared, answer=Choice()),
        Step("inside", {"kind": "decoder", "layer": HEAD[0], "head": HEAD[1], "row": ROW}, facts=_may, answer=Choice()),
        Step(
            "heads", {"kind": "encoder", "layer": 2, "head": 0, "row": 9}, facts=_bert, record="words", answer=Choice()
        ),
    ),
)
