"""Masks: who may look at whom, and how a number that is added forbids it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bartviz.language import mark
from bartviz.record.record import Record
from bartviz.teaching.lessons import facts
from bartviz.teaching.lessons.lesson import Lesson, Step

HEAD = (1, 4)  # of the decoder
ROW = 3  # reads "möchte"


def _closed(record: Record) -> Mapping[str, object]:
    masks = {kind: record.attention(kind).mask for kind in record.kinds}
    decoder = masks["decoder"]
    others = sum(int((~mask).sum()) for kind, mask in masks.items() if kind != "decoder")
    return {"closed": int((~decoder).sum()), "cells": decoder.size, "others": others}


def _may(record: Record) -> Mapping[str, object]:
    attention = record.attention("decoder")
    open_ = int(attention.mask[ROW].sum())
    return {"reads": attention.query.labels[ROW], "count": open_, "before": open_ - 1, "all": len(attention.query)}


def _cross(record: Record) -> Mapping[str, object]:
    attention = record.attention("cross")
    return {"rows": attention.shape[2], "keys": attention.shape[3], "last": attention.key.labels[-2]}


def _added(record: Record) -> Mapping[str, object]:
    lowest = np.finfo(np.float32).min
    scores = record.attention("decoder").scores(*HEAD)
    return {
        "lowest": float(lowest),
        "largest": float(np.abs(scores).max()),
        "weight": float(np.exp(np.float32(lowest))),
    }


def _shared(record: Record) -> Mapping[str, object]:
    weights = facts.weights(record, "decoder", *HEAD)  # (Q, K)
    least, most = weights.sum(axis=1).min(), weights.sum(axis=1).max()
    return {"first": float(weights[0, 0]), "least": float(least), "most": float(most)}


def _bert(record: Record) -> Mapping[str, object]:
    mask = record.attention("encoder").mask
    return {"count": len(mask), "open": int(mask.sum()), "cells": mask.size}


LESSON = Lesson(
    "masks",
    mark("Who may look at whom"),
    mark("Three squares, and one of them half closed: what a mask forbids, and how it does so with a number."),
    6,
    (
        Step(
            "masks",
            mark(
                "Three squares, one for each kind of attention. Each row is a token that looks, each column one that "
                "is looked at. Coloured cells are open, hatched ones closed."
            ),
            mark("How many cells are closed in the decoder, and how many in the other two?"),
            mark(
                "{closed} of {cells} in the decoder: everything to the right of the diagonal. In the other two not "
                "one: encoder and cross-attention may look everywhere."
            ),
            {"row_encoder": 4, "row_decoder": ROW, "row_cross": ROW},
            facts=_closed,
        ),
        Step(
            "masks",
            mark(
                "In the decoder's square the row that reads “{reads}” is chosen; the sentence under the square says "
                "whom it may see. Its job is to predict the token that comes next."
            ),
            mark("At how many of the {all} tokens may it look, and why not at the rest?"),
            mark(
                "At {count}: itself and the {before} before it. The rest is what it has to predict, or comes later "
                "still. Move the row: each one further down may see one token more."
            ),
            {"row_encoder": 4, "row_decoder": ROW, "row_cross": ROW},
            facts=_may,
        ),
        Step(
            "masks",
            mark(
                "Now the third square: the rows are the German output, the columns the English source. The first "
                "row is chosen, when nothing has been written yet."
            ),
            mark("May the very first row already look at the last token of the source?"),
            mark(
                "Yes: all {rows} rows see all {keys} tokens, “{last}” included. The source is complete before the "
                "first token is written; only the output grows."
            ),
            {"row_encoder": 4, "row_decoder": 0, "row_cross": 0},
            facts=_cross,
        ),
        Step(
            "masks",
            mark(
                "How does a mask forbid? It is a matrix that is added to the scores before the softmax. The squares "
                "now show the numbers that are added."
            ),
            mark("What is added to an open cell, what to a closed one, and what weight does a closed one get?"),
            mark(
                "0 to an open one, which changes nothing. {lowest:.1e} to a closed one, the lowest number there is; "
                "no score of this head is beyond {largest:.1f}. The softmax makes e to that power: exactly "
                "{weight:.0f}."
            ),
            {"view": "additive", "number": "lowest", "row_encoder": 4, "row_decoder": ROW, "row_cross": ROW},
            facts=_added,
        ),
        Step(
            "masks",
            mark(
                "The same squares after the softmax: the weights of one head. Closed cells are hatched, not white: "
                "their weight is not small, it is none."
            ),
            mark("Half of the decoder's square is closed. Do its rows still sum to 1?"),
            mark(
                "Yes, every one of them: the 1 is shared among the open cells. The first row may look only at itself, "
                "so its weight is {first:.2f} whatever its score is."
            ),
            {
                "view": "weights",
                "layer": HEAD[0],
                "head": HEAD[1],
                "row_encoder": 4,
                "row_decoder": 0,
                "row_cross": ROW,
            },
            facts=_shared,
        ),
        Step(
            "inside",
            mark(
                "The mask inside of the arithmetic: one row of the decoder, from query and keys to the weights. Look "
                "at the keys that come after “{reads}”."
            ),
            mark("They have products and a score like all others. What becomes of them?"),
            mark(
                "The mask takes them out before the softmax: {count} of {all} keys are left, and only these share the "
                "weight. What is closed is computed and thrown away."
            ),
            {"kind": "decoder", "layer": HEAD[0], "head": HEAD[1], "row": ROW},
            facts=_may,
        ),
        Step(
            "heads",
            mark("Another model: BERT. It has an encoder only and reads the whole sentence at once."),
            mark("Look for a hatched half in any of its maps. Is there one?"),
            mark(
                "No: {open} of {cells} cells are open, each of the {count} tokens sees all of them, to the left and "
                "to the right. That is “bidirectional”. It understands with both sides, but it cannot write on."
            ),
            {"kind": "encoder", "layer": 2, "head": 0, "row": 9},
            facts=_bert,
            record="words",
        ),
    ),
)
