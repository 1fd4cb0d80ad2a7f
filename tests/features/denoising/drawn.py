"""Figures and views of this feature, which the tests of all figures and all pages read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import plotly.graph_objects as go

from bartviz import figures
from bartviz.analysis.repair_columns import Place, Said
from bartviz.analysis.repairs import Repair, Score


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


def repaired() -> Repair:
    """What the bars of the third line need: three written words, no runs."""
    said = (Said("I", 0.99, "kept", 0), Said("car", 0.45, "right", 1), Said("new", 0.25, "added"))
    place = Place((0, 1), (0, 1), said)
    return Repair(cast("Any", None), cast("Any", None), cast("Any", None), cast("Any", None), (place,), likely())


FIGURES: dict[str, Callable[[], go.Figure]] = {
    "denoising": lambda: figures.denoising(likely()),
    "written": lambda: figures.written(repaired()),
}

VIEWS = tuple({"look": look} for look in ("words", "attention", "tokens"))

# The key of each chart of the page -> the function of bartviz.figures that draws it.
CHARTS = {"denoising_words": "written", "denoising_tokens": "denoising", "denoising_": "heads"}
