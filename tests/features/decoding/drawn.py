"""Figures and views of this feature, which the tests of all figures and all pages read."""

from __future__ import annotations

from collections.abc import Callable

import plotly.graph_objects as go

from bartviz import figures
from tests.analysis.test_branches import MAIN, output
from tests.figures.shown import RECORD
from tests.support import trees

FIGURES: dict[str, Callable[[], go.Figure]] = {
    "beams": lambda: figures.beams(trees.record(), most=6, step=1),
    "branches": lambda: figures.branches(MAIN, output("Ich", " möchte", " kaufen", " ein", " Auto", ".", "</s>")),
    "decoding": lambda: figures.decoding(RECORD, reading="reads", step=3),
    "decoding, one head": lambda: figures.decoding(RECORD, layer=1, head=1),
}

VIEWS = ({"search": "beams"}, {"search": "sampling"}, {"search": "checkpoint"})

# The key of each chart of the page -> the function of bartviz.figures that draws it.
CHARTS = {"beam_tree": "beams", "decoding_output": "output_layer"}
