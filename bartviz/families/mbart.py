"""mBART (Liu et al. 2020): BART in many languages, its layer norms before each block."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families import matrices
from bartviz.families.bart import BART, side, variants
from bartviz.families.family import Training
from bartviz.language import mark

MBART = replace(
    BART,
    name="mbart",
    title="mBART",
    labels=2,
    encoder=side("encoder", embedding_norm=True, final_norm=True),
    decoder=side("decoder", embedding_norm=True, final_norm=True),
    norm="pre",
    variants=variants("MBart"),
    classes=("MBartForConditionalGeneration",),
    training=Training(
        matrices.SENTENCEPIECE,
        "A </s> en_XX",
        None,
        mark("restore a text in one of 25 languages whose spans (35%) are each one mask, sentences shuffled"),
        matrices.WHOLE,
        "Liu et al. 2020",
    ),
    start="language",
    denoises=False,
)
