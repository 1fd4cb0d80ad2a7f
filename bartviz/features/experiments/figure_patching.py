"""The patch map: what each part of the clean run recovers, where it is put into the corrupted one."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from bartviz.analysis import sentence_words
from bartviz.analysis.patching import Patching
from bartviz.arrays import Floats
from bartviz.drawing import theme
from bartviz.drawing.arguments import expect
from bartviz.features.experiments.figure_panels import Panel, panels
from bartviz.language import _
from bartviz.record.attention import Kind

LEAST = 0.1  # the end of the scale at least


def patch_map(found: Patching, *, dark: bool = False) -> go.Figure:
    """The recovered share by layer and head, by layer and position, or by layer, head and position, for each kind.

    Blue brings the clean answer back, orange takes it further away; all kinds share one scale.

    >>> figure = bartviz.figures.patch_map(bartviz.patch(model, "I want to buy a car.", "I want to buy a house."))
    """
    expect(found, Patching, "the result of bartviz.patch")
    high = max(LEAST, *(float(np.abs(shares).max(initial=0.0)) for shares in found.recovered.values()))
    return panels([_panel(found, kind, shares, high, dark) for kind, shares in found.recovered.items()], dark=dark)


def _panel(found: Patching, kind: Kind, shares: Floats, high: float, dark: bool) -> Panel:
    layers = shares.shape[0]
    down = [f"L{layer}" for layer in range(layers)]
    across = [f"H{head}" for head in range(shares.shape[1])]
    if found.by == "head and position":
        down = [f"L{layer}H{head}" for layer in range(layers) for head in range(shares.shape[1])]
    if found.by != "head":
        across = [
            own if own == other else f"{own} | {other}"
            for own, other in zip(found.rows[kind], found.corrupted_rows[kind], strict=True)
        ]
    where = "%{y}%{x}" if found.by == "head" else "%{y}, %{x}"
    said = _("recovered: {share}", share="%{customdata:.1%}")
    return Panel(
        sentence_words.capitalized(_("{kind} heads", kind=sentence_words.kind(kind))),
        shares.reshape(len(down), -1),
        down,
        across,
        theme.difference_scale(dark),
        -high,
        high,
        f"<b>{sentence_words.kind(kind)} {where}</b>, {said}<extra></extra>",
        unit=_("recovered share"),
    )
