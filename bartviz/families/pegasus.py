"""Pegasus (Zhang et al. 2020): a summariser of BART's build, with computed positions and layer norms before blocks."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families import matrices
from bartviz.families.bart import BART, side, writers
from bartviz.families.family import Training
from bartviz.language import mark

PEGASUS = replace(
    BART,
    name="pegasus",
    title="Pegasus",
    labels=2,
    encoder=side("encoder", final_norm=True),
    decoder=side("decoder", final_norm=True),
    positions="sinusoidal",
    norm="pre",
    added_rows=0,
    variants=writers("Pegasus"),
    classes=("PegasusForConditionalGeneration",),
    training=Training(
        matrices.SENTENCEPIECE,
        "A </s>",
        None,
        mark("write the most informative sentences (30%) that were taken out of a document"),
        mark("the sentences taken out, token by token"),
        "Zhang et al. 2020",
    ),
    start="pad",
    denoises=False,
)
