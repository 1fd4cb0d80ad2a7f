"""Figures and views of this feature, which the tests of all figures and all pages read."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import plotly.graph_objects as go

from bartviz import figures
from bartviz.analysis.positions import shift as shift_of
from bartviz.features.inputs.figure import positions, relative, shift
from bartviz.features.inputs.parts import SAMPLES
from tests.features.inputs.test_figure import made

FIGURES: dict[str, Callable[[], go.Figure]] = {
    "inputs": lambda: figures.inputs(made()),
    "positions": lambda: positions(np.random.default_rng(1).normal(size=(10, 6))),
    "shift": lambda: shift(shift_of(np.random.default_rng(1).normal(size=(32, 6)))),
    "relative": lambda: relative(np.arange(12.0).reshape(3, 2, 2), "encoder"),
}

VIEWS = (*({"look": look} for look in ("sum", "positions", "tokenizers")), {"blocks": "true"})
CUT = {"tokenizers": SAMPLES["long"]}

# The key of each chart of the page -> the function of bartviz.figures that draws it.
CHARTS = {"inputs_sum": "inputs", "inputs_positions": "positions", "inputs_shift": "shift", "inputs_bias": "bias"}
