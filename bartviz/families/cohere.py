"""Command R (Cohere 2024): attention and feed-forward read one LayerNorm without biases."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families import matrices
from bartviz.families.llama import BYTES, GATED, LLAMA, NAMES, keys, side, variants

COHERE = replace(
    LLAMA,
    name="cohere",
    title="Cohere",
    keys=keys(
        LLAMA.keys,
        vocabulary=("vocab_size", 256_000),
        width=("hidden_size", 8192),
        head_width=None,
        decoder_layers=("num_hidden_layers", 40),
        decoder_heads=("num_attention_heads", 64),
        decoder_feed_forward=("intermediate_size", 22_528),
        positions=("max_position_embeddings", 8192),
    ),
    tied=True,
    fixed={"attention_bias": False, "use_qk_norm": False},
    decoder=side(matrices.projections(NAMES), GATED, matrices.norm("self-attention", "input_layernorm", bias=False)),
    parallel=True,
    logits_changed={"logit_scale": 1.0},
    variants=variants("Cohere"),
    classes=("CohereForCausalLM",),
    training=replace(BYTES, paper="Cohere 2024"),
)
