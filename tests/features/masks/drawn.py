"""Figures and views of this feature, which the tests of all figures and all pages read."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import plotly.graph_objects as go

from bartviz import figures
from bartviz.analysis.mask_patterns import pattern
from bartviz.features.masks import figure_patterns as patterns
from tests.figures.shown import RECORD, biased_record


def bars() -> go.Figure:
    weights = np.full(8, 1 / 8, np.float32)
    return patterns.row_bars(weights, weights, RECORD.source.labels, kind="encoder", mask=pattern("window", 8)[0])


FIGURES: dict[str, Callable[[], go.Figure]] = {
    "masks": lambda: figures.masks(RECORD),
    "masks, numbers": lambda: figures.masks(RECORD, view="additive"),
    "masks, weights": lambda: figures.masks(RECORD, view="weights"),
    "mask, bias": lambda: figures.masks(biased_record(), view="additive"),
    "bars of a row": bars,
}

VIEWS = (
    {"see": "patterns"},
    {"see": "patterns", "pattern": "causal"},
    {"see": "zero"},
    {"about": "recurrence"},
    {"view": "weights"},
    {"view": "numbers"},
)

# The key of each chart of the page -> the function of bartviz.figures that draws it.
CHARTS = {
    "square_": "masks",
    "pattern_square": "masks",
    "pattern_row_bars": "pattern",
    "closed_row": "pattern",
    "masks_recurrence": "recurrence",
}
