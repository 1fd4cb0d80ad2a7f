"""Command R7B (Cohere 2024): windows with rotary positions in three of four layers, no positions in the fourth."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families.cohere import COHERE
from bartviz.families.llama import BYTES, variants

COHERE2 = replace(
    COHERE,
    name="cohere2",
    title="Cohere 2",
    fixed={"attention_bias": False},
    variants=variants("Cohere2"),
    classes=("Cohere2ForCausalLM",),
    training=replace(BYTES, paper="Cohere 2024"),
)
