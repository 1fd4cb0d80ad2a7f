"""Qwen2 (Yang et al. 2024): Llama with biases on queries, keys and values."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families import matrices
from bartviz.families.llama import BYTES, LLAMA, NAMES, keys, side, variants

QWEN2 = replace(
    LLAMA,
    name="qwen2",
    title="Qwen2",
    keys=keys(
        LLAMA.keys,
        vocabulary=("vocab_size", 151_936),
        head_width=None,
        decoder_key_heads=("num_key_value_heads", 32),
        decoder_feed_forward=("intermediate_size", 22_016),
        positions=("max_position_embeddings", 32_768),
    ),
    fixed={},
    decoder=side(matrices.projections(NAMES, bias="qkv")),
    variants=variants("Qwen2"),
    classes=("Qwen2ForCausalLM",),
    training=replace(BYTES, paper="Yang et al. 2024"),
)
