"""The small Blenderbot (Roller et al. 2021): layer norms after each sum, as in BART."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families.bart import BART, side, writers
from bartviz.families.blenderbot import BLENDERBOT

BLENDERBOT_SMALL = replace(
    BLENDERBOT,
    name="blenderbot-small",
    title="Blenderbot small",
    keys={
        **BART.keys,
        "width": ("d_model", 512),
        "encoder_layers": ("encoder_layers", 8),
        "encoder_feed_forward": ("encoder_ffn_dim", 2048),
        "decoder_layers": ("decoder_layers", 8),
        "decoder_feed_forward": ("decoder_ffn_dim", 2048),
        "positions": ("max_position_embeddings", 512),
    },
    encoder=side("encoder", embedding_norm=True),
    decoder=replace(side("decoder", embedding_norm=True), normed_tokens=True),
    norm="post",
    variants=writers("BlenderbotSmall"),
    classes=("BlenderbotSmallForConditionalGeneration",),
    training=replace(BLENDERBOT.training, tokenizer="BPE", single="A"),
)
