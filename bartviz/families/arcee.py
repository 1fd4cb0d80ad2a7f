"""AFM (Arcee 2025): Llama with squared ReLU and no gate."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families import matrices
from bartviz.families.llama import BYTES, LLAMA, NAMES, keys, side, variants

ARCEE = replace(
    LLAMA,
    name="arcee",
    title="Arcee",
    keys=keys(
        LLAMA.keys,
        width=("hidden_size", 2560),
        decoder_feed_forward=("intermediate_size", 18_432),
        positions=("max_position_embeddings", 4096),
    ),
    activation=("hidden_act", "relu2"),
    decoder=side(matrices.projections(NAMES), matrices.dense("mlp.up_proj mlp.down_proj")),
    variants=variants("Arcee"),
    classes=("ArceeForCausalLM",),
    training=replace(BYTES, paper="Arcee AI 2025"),
)
