"""OLMo 3 (OLMo Team 2025): OLMo 2 with windows in three of four layers."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families.llama import BYTES, variants
from bartviz.families.olmo2 import OLMO2

OLMO3 = replace(
    OLMO2,
    name="olmo3",
    title="OLMo 3",
    variants=variants("Olmo3"),
    classes=("Olmo3ForCausalLM",),
    training=replace(BYTES, paper="OLMo Team 2025"),
)
