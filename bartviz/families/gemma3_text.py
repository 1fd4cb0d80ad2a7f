"""The text model of Gemma 3 (Gemma Team 2025): windows in five of six layers, norms on queries and keys."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families import matrices
from bartviz.families.family import Variant
from bartviz.families.gemma2 import GEMMA2, NORMS
from bartviz.families.llama import BYTES, GATED, NAMES, keys, side

GEMMA3_TEXT = replace(
    GEMMA2,
    name="gemma3_text",
    title="Gemma 3",
    keys=keys(GEMMA2.keys, vocabulary=("vocab_size", 262_208), positions=("max_position_embeddings", 131_072)),
    decoder=side((*matrices.projections(NAMES), *matrices.head_norms()), GATED, NORMS),
    variants={
        "Gemma3ForCausalLM": Variant(
            matrices.WRITES, head=matrices.LM, ties={"lm_head.weight": ".embed_tokens.weight"}
        ),
        "Gemma3TextModel": Variant(matrices.BASE, bare=True),
    },
    classes=("Gemma3ForCausalLM",),
    training=replace(BYTES, paper="Gemma Team 2025"),
)
