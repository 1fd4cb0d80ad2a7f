"""Qwen3 (Yang et al. 2025): Llama with norms on the queries and keys of each head."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families import matrices
from bartviz.families.llama import BYTES, LLAMA, NAMES, keys, side, variants

QWEN3 = replace(
    LLAMA,
    name="qwen3",
    title="Qwen3",
    keys=keys(
        LLAMA.keys,
        vocabulary=("vocab_size", 151_936),
        head_width=("head_dim", 128),
        decoder_key_heads=("num_key_value_heads", 32),
        decoder_feed_forward=("intermediate_size", 22_016),
        positions=("max_position_embeddings", 32_768),
    ),
    fixed={"attention_bias": False},
    decoder=side((*matrices.projections(NAMES), *matrices.head_norms())),
    variants=variants("Qwen3"),
    classes=("Qwen3ForCausalLM",),
    training=replace(BYTES, paper="Yang et al. 2025"),
)
