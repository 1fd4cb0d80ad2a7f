"""mT5 (Xue et al. 2021): T5 1.1 in 101 languages."""

from __future__ import annotations

from dataclasses import replace

from bartviz.families.bart import writers
from bartviz.families.family import Family
from bartviz.families.t5 import T5


def gated(name: str, title: str, cls: str, paper: str) -> Family:
    """T5 1.1 under another name: its feed-forward layers are gated unless configured otherwise."""
    keys = {
        **T5.keys,
        "vocabulary": ("vocab_size", 250_112),
        "encoder_layers": ("num_layers", 8),
        "encoder_heads": ("num_heads", 6),
        "encoder_feed_forward": ("d_ff", 1024),
    }
    assert T5.gated is not None
    plain, with_gate = (
        replace(
            family,
            name=name,
            title=title,
            keys=keys,
            activation=("feed_forward_proj", "gated-gelu"),
            variants=writers(cls, bias=False),
            classes=(f"{cls}ForConditionalGeneration",),
            training=replace(T5.gated.training, paper=paper),
            gated=None,
            state_scale="",
        )
        for family in (T5, T5.gated)
    )
    return replace(plain, gated=with_gate)


MT5 = gated("mt5", "mT5", "MT5", "Xue et al. 2021")
