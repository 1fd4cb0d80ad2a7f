"""OLMo 2 (OLMo Team 2024): norms on queries and keys, and on what each block adds."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families import matrices
from bartviz.families.llama import BYTES, GATED, LLAMA, NAMES, keys, side, variants

OLMO2 = replace(
    LLAMA,
    name="olmo2",
    title="OLMo 2",
    keys=keys(LLAMA.keys, vocabulary=("vocab_size", 50_304), head_width=None),
    fixed={"attention_bias": False},
    decoder=side(
        (*matrices.projections(NAMES), *matrices.head_norms("a k")),
        GATED,
        (
            *matrices.norm("self-attention output", "post_attention_layernorm", bias=False),
            *matrices.norm("feed-forward output", "post_feedforward_layernorm", bias=False),
        ),
    ),
    norm="inner",
    variants=variants("Olmo2"),
    classes=("Olmo2ForCausalLM",),
    training=replace(BYTES, paper="OLMo Team 2024"),
)
