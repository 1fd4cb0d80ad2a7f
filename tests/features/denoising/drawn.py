"""Figures and views of this feature, which the tests of all figures and all pages read."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import plotly.graph_objects as go

from bartviz import figures
from bartviz.analysis.repairs import Score


def likely() -> Score:
    flags = np.array([True, False])
    return Score(
        ("1", "2"),
        ~flags & ~flags,
        np.log(np.array([0.5, 0.2], np.float32)),
        ("1", "3"),
        np.array([0.5, 0.6], np.float32),
        flags,
        ~flags,
    )


FIGURES: dict[str, Callable[[], go.Figure]] = {"denoising": lambda: figures.denoising(likely())}

VIEWS = tuple({"look": look} for look in ("attention", "tokens"))

# The key of each chart of the page -> the function of bartviz.figures that draws it.
CHARTS = {"denoising_tokens": "denoising", "denoising_": "heads"}
