"""Marian (Junczys-Dowmunt et al. 2018): a translator of BART's build, with computed positions."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families import matrices
from bartviz.families.bart import BART, side, writers
from bartviz.families.family import Training
from bartviz.language import mark

MARIAN = replace(
    BART,
    name="marian",
    title="Marian",
    keys={**BART.keys, "vocabulary": ("vocab_size", 58_101), "target_vocabulary": ("decoder_vocab_size", None)},
    labels=2,
    encoder=side("encoder"),
    decoder=side("decoder"),
    positions="sinusoidal",
    added_rows=0,
    variants=writers("Marian", "MTModel"),
    classes=("MarianMTModel",),
    training=Training(
        matrices.SENTENCEPIECE,
        "A </s>",
        None,
        mark("translate sentences of parallel texts"),
        mark("the translation, token by token"),
        "Junczys-Dowmunt et al. 2018",
    ),
    start="pad",
    denoises=False,
)
