"""SmolLM3 (Hugging Face 2025): Llama, every fourth layer without positions."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families.llama import BYTES, LLAMA, keys, variants

SMOLLM3 = replace(
    LLAMA,
    name="smollm3",
    title="SmolLM3",
    keys=keys(
        LLAMA.keys,
        vocabulary=("vocab_size", 128_256),
        width=("hidden_size", 2048),
        head_width=None,
        decoder_layers=("num_hidden_layers", 36),
        decoder_heads=("num_attention_heads", 16),
        decoder_key_heads=("num_key_value_heads", 4),
        positions=("max_position_embeddings", 32_768),
    ),
    tied=True,
    variants=variants("SmolLM3"),
    classes=("SmolLM3ForCausalLM",),
    training=replace(BYTES, paper="Hugging Face 2025"),
)
