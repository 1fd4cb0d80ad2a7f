"""The pitfalls page: one claim per part, with this text's numbers, a picture, sources, and a link to more."""

from __future__ import annotations

from bartviz.language import mark
from bartviz.ui.views.pitfalls.rerun import silence, untrained
from bartviz.ui.views.pitfalls.seen import averages, by_hand, shifted, sinks, weight_and_effect

LEAD = mark("Five ways to read too much into a picture of attention, each shown on your text.")
PARTS = (weight_and_effect, silence, averages, sinks, shifted, untrained)

__all__ = ["LEAD", "PARTS", "by_hand"]
