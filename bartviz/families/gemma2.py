"""Gemma 2 (Gemma Team 2024): capped scores, windows in every other layer, norms around each block."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families import matrices
from bartviz.families.llama import BYTES, GATED, LLAMA, NAMES, keys, side, variants

NORMS = (
    *matrices.norm("self-attention", "input_layernorm", bias=False),
    *matrices.norm("self-attention output", "post_attention_layernorm", bias=False),
    *matrices.norm("feed-forward", "pre_feedforward_layernorm", bias=False),
    *matrices.norm("feed-forward output", "post_feedforward_layernorm", bias=False),
)

GEMMA2 = replace(
    LLAMA,
    name="gemma2",
    title="Gemma 2",
    keys=keys(
        LLAMA.keys,
        vocabulary=("vocab_size", 256_000),
        width=("hidden_size", 2304),
        head_width=("head_dim", 256),
        decoder_layers=("num_hidden_layers", 26),
        decoder_heads=("num_attention_heads", 8),
        decoder_key_heads=("num_key_value_heads", 4),
        decoder_feed_forward=("intermediate_size", 9216),
        positions=("max_position_embeddings", 8192),
    ),
    activation=("hidden_activation", "gelu_pytorch_tanh"),
    tied=True,
    fixed={"attention_bias": False, "use_bidirectional_attention": False},
    logits_changed={"final_logit_softcapping": None},
    decoder=side(matrices.projections(NAMES), GATED, NORMS),
    variants=variants("Gemma2"),
    classes=("Gemma2ForCausalLM",),
    training=replace(BYTES, paper="Gemma Team 2024"),
)
