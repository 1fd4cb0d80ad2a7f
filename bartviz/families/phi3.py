"""Phi-3 (Abdin et al. 2024): Llama whose matrices are joined: query, key and value, and gate and input."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families import matrices
from bartviz.families.llama import BYTES, LLAMA, keys, side, variants

PHI3 = replace(
    LLAMA,
    name="phi3",
    title="Phi-3",
    keys=keys(
        LLAMA.keys,
        vocabulary=("vocab_size", 32_064),
        width=("hidden_size", 3072),
        head_width=None,
        decoder_feed_forward=("intermediate_size", 8192),
        positions=("max_position_embeddings", 4096),
    ),
    fixed={},
    decoder=side(
        matrices.fused("self_attn.qkv_proj", "self_attn.o_proj"), matrices.joined("mlp.gate_up_proj", "mlp.down_proj")
    ),
    variants=variants("Phi3"),
    classes=("Phi3ForCausalLM",),
    training=replace(BYTES, paper="Abdin et al. 2024"),
)
