"""Blenderbot (Roller et al. 2021): BART's build, trained to answer in a conversation."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families import matrices
from bartviz.families.bart import BART, side, writers
from bartviz.families.family import Training
from bartviz.language import mark

BLENDERBOT = replace(
    BART,
    name="blenderbot",
    title="Blenderbot",
    keys={
        **BART.keys,
        "vocabulary": ("vocab_size", 8008),
        "width": ("d_model", 2560),
        "encoder_layers": ("encoder_layers", 2),
        "encoder_heads": ("encoder_attention_heads", 32),
        "encoder_feed_forward": ("encoder_ffn_dim", 10_240),
        "decoder_layers": ("decoder_layers", 24),
        "decoder_heads": ("decoder_attention_heads", 32),
        "decoder_feed_forward": ("decoder_ffn_dim", 10_240),
        "positions": ("max_position_embeddings", 128),
    },
    labels=2,
    encoder=side("encoder", final_norm=True),
    decoder=side("decoder", final_norm=True),
    norm="pre",
    added_rows=0,
    variants=writers("Blenderbot"),
    classes=("BlenderbotForConditionalGeneration",),
    training=Training(
        matrices.BYTE_PAIRS,
        "A </s>",
        None,
        mark("answer in a conversation"),
        mark("the answer, token by token"),
        "Roller et al. 2021",
    ),
    start="begin",
    denoises=False,
)
