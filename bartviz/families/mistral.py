"""Mistral (Jiang et al. 2023): Llama whose rows attend to a window of earlier tokens."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families.llama import BYTES, LLAMA, keys, variants

MISTRAL = replace(
    LLAMA,
    name="mistral",
    title="Mistral",
    keys=keys(
        LLAMA.keys,
        decoder_feed_forward=("intermediate_size", 14_336),
        decoder_key_heads=("num_key_value_heads", 8),
        positions=("max_position_embeddings", 131_072),
    ),
    fixed={},
    variants=variants("Mistral"),
    classes=("MistralForCausalLM",),
    training=replace(BYTES, paper="Jiang et al. 2023"),
)
