"""EXAONE 4 (LG AI Research 2025): norms on queries and keys, and on what each block adds; windows in most layers."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families import matrices
from bartviz.families.llama import BYTES, GATED, LLAMA, NAMES, keys, side, variants
from bartviz.families.olmo2 import OLMO2

EXAONE4 = replace(
    OLMO2,
    name="exaone4",
    title="EXAONE 4",
    keys=keys(
        LLAMA.keys,
        head_width=None,
        decoder_key_heads=("num_key_value_heads", 32),
        vocabulary=("vocab_size", 102_400),
        decoder_feed_forward=("intermediate_size", 16_384),
    ),
    fixed={},
    decoder=side(
        (*matrices.projections(NAMES), *matrices.head_norms()),
        GATED,
        (
            *matrices.norm("self-attention output", "post_attention_layernorm", bias=False),
            *matrices.norm("feed-forward output", "post_feedforward_layernorm", bias=False),
        ),
    ),
    variants=variants("Exaone4"),
    classes=("Exaone4ForCausalLM",),
    training=replace(BYTES, paper="LG AI Research 2025"),
)
