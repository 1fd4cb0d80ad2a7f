"""Seed-OSS (ByteDance 2025): Llama with biases on queries, keys and values."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families import matrices
from bartviz.families.llama import BYTES, LLAMA, NAMES, keys, side, variants

SEED_OSS = replace(
    LLAMA,
    name="seed_oss",
    title="Seed-OSS",
    keys=keys(
        LLAMA.keys,
        vocabulary=("vocab_size", 155_136),
        head_width=("head_dim", 128),
        decoder_layers=("num_hidden_layers", 64),
        decoder_heads=("num_attention_heads", 80),
        decoder_key_heads=("num_key_value_heads", 8),
        decoder_feed_forward=("intermediate_size", 27_648),
        positions=("max_position_embeddings", 524_288),
    ),
    fixed={"attention_bias": True, "attention_out_bias": False, "mlp_bias": False},
    decoder=side(matrices.projections(NAMES, bias="qkv")),
    variants=variants("SeedOss"),
    classes=("SeedOssForCausalLM",),
    training=replace(BYTES, paper="ByteDance Seed 2025"),
)
