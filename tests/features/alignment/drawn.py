"""Figures and views of this feature, which the tests of all figures and all pages read."""

from __future__ import annotations

from collections.abc import Callable

import plotly.graph_objects as go

from bartviz.analysis.alignment import heads_of, table
from bartviz.analysis.gold_alignment import read
from bartviz.features.alignment.figure import lines, matrix
from tests.figures.shown import RECORD


def links(gold: bool, cells: bool = False) -> go.Figure:
    shown = table(RECORD, heads_of(RECORD))
    judged = read("0-0 1-1 3?4", len(shown.source), len(shown.target)) if gold else None
    return (matrix if cells else lines)(shown, frozenset({(0, 0), (3, 4), (2, 1)}), gold=judged)


FIGURES: dict[str, Callable[[], go.Figure]] = {
    "alignment": lambda: links(gold=False),
    "alignment judged": lambda: links(gold=True),
    "alignment matrix": lambda: links(gold=True, cells=True),
}

VIEWS = ({"align": "head", "links": "threshold"}, {"align": "set"}, {"align": "layer", "words": "true"})

# The key of each chart of the page -> the function of bartviz.figures that draws it.
CHARTS = {"alignment_matrix": "alignment"}
