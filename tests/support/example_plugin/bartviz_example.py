"""What a package can add to bartviz: a measure, two patterns, a method of attribution, and a family."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bartviz.analysis.attribution_methods import Method, OwnMethod
from bartviz.analysis.own_measures import BothTokens
from bartviz.arrays import Bools, Floats
from bartviz.attribution.question import Parts, Question
from bartviz.families.bert import BERT, ENCODER
from bartviz.families.family import Variant
from bartviz.record.attention import Kind
from bartviz.record.record import Record


def lean(weights: Floats, tokens: BothTokens) -> Floats:
    """How many keys to the right of itself a row looks, in the mean."""
    rows, keys = np.arange(len(tokens.query)), np.arange(len(tokens.key))
    found: Floats = (weights * (keys - rows[:, None])).sum(axis=-1).mean(axis=1)
    return found


OPENING = "from any to first"


def neighbours(record: Record, kind: Kind) -> Bools:
    """Each row looks at the columns beside its own."""
    rows, columns = (np.arange(length) for length in record.attention(kind).mask.shape)
    found: Bools = np.abs(rows[:, None] - columns) == 1
    return found


def _last_layer(question: Question) -> Parts:
    weights = question.record.attention(question.kind)
    return Parts(weights.layer(weights.shape[0] - 1).mean(axis=0)[question.rows])


LAST_LAYER = OwnMethod(
    Method("last layer", "the mean of alpha_ij over the heads of the last layer", "this example", "weights", "each"),
    _last_layer,
)

BERT_GENERATION = replace(
    BERT,
    name="bert-generation",
    title="BERT for generation",
    keys={word: key for word, key in BERT.keys.items() if word != "segments"},
    encoder=replace(ENCODER, before=tuple(part for part in ENCODER.before if "segment" not in part.role)),
    pooler=(),
    variants={"BertGenerationEncoder": Variant("base model, no head", bare=True)},
    classes=("BertGenerationEncoder",),
    training=replace(BERT.training, pair=None, paper="Rothe et al. 2020"),
)
