"""Granite (IBM 2024): Llama with factors on embeddings, scores, sums and logits."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families.llama import BYTES, LLAMA, keys, variants

GRANITE = replace(
    LLAMA,
    name="granite",
    title="Granite",
    keys=keys(LLAMA.keys, head_width=None),
    embedding_scale="embedding_multiplier",
    residual_scale="residual_multiplier",
    logits_changed={"logits_scaling": 1.0},
    variants=variants("Granite"),
    classes=("GraniteForCausalLM",),
    training=replace(BYTES, paper="IBM Granite Team 2024"),
)
