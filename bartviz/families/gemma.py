"""Gemma (Gemma Team 2024): Llama whose embeddings are scaled by the square root of the width."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families.llama import BYTES, LLAMA, keys, variants

GEMMA = replace(
    LLAMA,
    name="gemma",
    title="Gemma",
    keys=keys(
        LLAMA.keys,
        vocabulary=("vocab_size", 256_000),
        width=("hidden_size", 3072),
        head_width=("head_dim", 256),
        decoder_layers=("num_hidden_layers", 28),
        decoder_heads=("num_attention_heads", 16),
        decoder_key_heads=("num_key_value_heads", 16),
        decoder_feed_forward=("intermediate_size", 24_576),
        positions=("max_position_embeddings", 8192),
    ),
    activation=("hidden_act", "gelu_pytorch_tanh"),
    tied=True,
    fixed={"attention_bias": False, "use_bidirectional_attention": False},
    variants=variants("Gemma"),
    classes=("GemmaForCausalLM",),
    training=replace(BYTES, paper="Gemma Team 2024"),
)
