"""umT5 (Chung et al. 2023): mT5 with a table of relative positions in every layer."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families.family import Family, Side
from bartviz.families.mt5 import gated


def _every_layer(side: Side | None) -> Side | None:
    return None if side is None else replace(side, first=(), parts=(*side.first, *side.parts))


def _sides(family: Family) -> Family:
    return replace(family, encoder=_every_layer(family.encoder), decoder=_every_layer(family.decoder))


_FIRST = gated("umt5", "umT5", "UMT5", "Chung et al. 2023")
assert _FIRST.gated is not None
UMT5 = replace(
    _sides(_FIRST),
    state_scale="tie_word_embeddings",
    gated=replace(_sides(_FIRST.gated), state_scale="tie_word_embeddings"),
)
