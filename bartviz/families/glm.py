"""GLM-4 (GLM Team 2024): joined gate and input matrices, half of each head rotated."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families import matrices
from bartviz.families.llama import BYTES, LLAMA, NAMES, keys, side, variants

GLM = replace(
    LLAMA,
    name="glm",
    title="GLM",
    keys=keys(
        LLAMA.keys,
        vocabulary=("vocab_size", 151_552),
        head_width=("head_dim", 128),
        decoder_layers=("num_hidden_layers", 40),
        decoder_key_heads=("num_key_value_heads", 2),
        decoder_feed_forward=("intermediate_size", 13_696),
        positions=("max_position_embeddings", 131_072),
    ),
    fixed={"attention_bias": True},
    decoder=side(matrices.projections(NAMES, bias="qkv"), matrices.joined("mlp.gate_up_proj", "mlp.down_proj")),
    variants=variants("Glm"),
    classes=("GlmForCausalLM",),
    training=replace(BYTES, paper="GLM Team 2024"),
)
