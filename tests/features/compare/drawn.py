"""Figures and views of this feature, which the tests of all figures and all pages read."""

from __future__ import annotations

from collections.abc import Callable

import plotly.graph_objects as go

from bartviz import figures
from bartviz.analysis import head_view
from bartviz.analysis.distance import contrast
from bartviz.analysis.measures import measures
from bartviz.features.compare import figure_contrast as contrasts
from bartviz.features.compare import numbers_similar as similar
from bartviz.features.compare.figure import alike
from tests.figures.shown import attention


def both() -> go.Figure:
    first, second = (head_view.view(attention("decoder"), 1, head) for head in (0, 1))
    found = contrast(first, second)
    assert found is not None
    return contrasts.difference(first, second, found)


def near() -> go.Figure:
    found = similar.likeness(attention("encoder"))
    assert found is not None
    return alike(measures(attention("encoder")), found)


FIGURES: dict[str, Callable[[], go.Figure]] = {
    "compare": lambda: figures.compare(attention("cross"), a=(0, 1)),
    "compare by distance": lambda: figures.compare(attention("encoder"), a=(0, 1), color="to_a"),
    "compare two": lambda: figures.compare(attention("encoder"), a=(0, 1), b=(1, 1)),
    "compare two texts": lambda: figures.compare(attention("encoder"), a=(0, 1), b=(1, 1), other=attention("decoder")),
    "difference": both,
    "alike": near,
    "contribution": lambda: figures.contribution(attention("decoder"), 1, 2, range="log"),
    "rollout": lambda: figures.rollout(attention("decoder"), range="row"),
}

VIEWS = tuple({"below": tab} for tab in ("all", "likeness", "rollout", "contribution", "measures"))

# The key of each chart of the page -> the function of bartviz.figures that draws it.
CHARTS = {
    "compare_scatter": "compare",
    "compare_matrix": "compare",
    "compare_likeness": "likeness",
    "compare_layer": "rollout",
    "compare_rollout": "rollout",
    "compare_weights": "contribution",
    "compare_norms": "contribution",
}
