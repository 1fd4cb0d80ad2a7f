"""PLBart (Ahmad et al. 2021): BART for programs and their descriptions."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families import matrices
from bartviz.families.bart import BART, side, writers
from bartviz.families.family import Training
from bartviz.language import mark

PLBART = replace(
    BART,
    name="plbart",
    title="PLBart",
    keys={
        **BART.keys,
        "vocabulary": ("vocab_size", 50_005),
        "width": ("d_model", 768),
        "encoder_layers": ("encoder_layers", 6),
        "encoder_heads": ("encoder_attention_heads", 12),
        "encoder_feed_forward": ("encoder_ffn_dim", 3072),
        "decoder_layers": ("decoder_layers", 6),
        "decoder_heads": ("decoder_attention_heads", 12),
        "decoder_feed_forward": ("decoder_ffn_dim", 3072),
    },
    aliases={**BART.aliases, "initializer_range": "init_std"},
    labels=2,
    encoder=side("encoder", embedding_norm=True),
    decoder=side("decoder", embedding_norm=True),
    variants=writers("PLBart"),
    classes=("PLBartForConditionalGeneration",),
    training=Training(
        matrices.SENTENCEPIECE,
        "A </s> java",
        None,
        mark("restore a program or a text whose spans (35%) are each one mask"),
        matrices.WHOLE,
        "Ahmad et al. 2021",
    ),
    start="language",
    denoises=False,
)
