"""The smaller figures of the page experiments, for notebooks, each from a result.

Letters in shapes: L layers, H heads, Q query rows, K key columns, n tokens.
"""

from __future__ import annotations

import plotly.graph_objects as go

from bartviz.analysis.ablation import Ablation
from bartviz.drawing.checks import expect
from bartviz.features.experiments.figure_ablation import moved as moved_attention


def moved(found: Ablation, *, dark: bool = False) -> go.Figure:
    """The change of every head's attention when some heads are scaled: a result of ``bartviz.ablate``.

    >>> figure = bartviz.figures.moved(bartviz.ablate(model, record, ["cross L3H2"], write=False))
    """
    expect(found, Ablation, "the result of bartviz.ablate")
    return moved_attention(found, dark=dark)
