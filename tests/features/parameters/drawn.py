"""Figures and views of this feature, which the tests of all figures and all pages read."""

from __future__ import annotations

from collections.abc import Callable

import plotly.graph_objects as go

from bartviz.analysis import article_models
from bartviz.analysis.costs import Costs
from bartviz.analysis.parameters import configuration, rows
from bartviz.features.parameters import figure_costs as costs
from bartviz.features.parameters.figure import parameters, sizes


def of(name: str) -> go.Figure:
    return parameters(rows(configuration(name)))


FIGURES: dict[str, Callable[[], go.Figure]] = {
    "BART": lambda: of("facebook/bart-base"),
    "ALBERT": lambda: of("albert-base-v2"),
    "T5": lambda: of("t5-small"),
    "sizes": lambda: sizes(article_models.models()),
    "operations": lambda: costs.operations(Costs("bert-base-uncased"), 100),
    "memory": lambda: costs.memory(Costs("facebook/bart-base"), 100),
    "cache": lambda: costs.decoding(Costs("facebook/bart-base"), 20, 8),
}

VIEWS = tuple({"more": tab} for tab in ("models", "claims", "check"))

# The key of each chart of the page -> the function of bartviz.figures that draws it.
CHARTS = {"operations": "cost", "memory": "cost", "decoding_cost": "cost"}
