"""Figures and views of this feature, which the tests of all figures and all pages read."""

from __future__ import annotations

from collections.abc import Callable

import plotly.graph_objects as go

from bartviz import figures
from bartviz.features.experiments.figure import reach as reached
from bartviz.features.experiments.figure_ablation import moved, worth
from tests.analysis.test_ablation import ablation, sweep
from tests.analysis.test_edits import edit, reach
from tests.attribution.test_patching import by_hand as patching

FIGURES: dict[str, Callable[[], go.Figure]] = {
    "sweep": lambda: figures.ablation(sweep()),
    "sweep, count": lambda: figures.ablation(sweep(), measure="changed"),
    "nothing swept": lambda: worth({"encoder": None}, {"encoder": (3, 4)}, clicks=True),
    "ablation": lambda: figures.ablation(ablation([0.5, 0.5, 0.8], [0.5, 0.25, 0.8], [7, 3, 7])),
    "attention moved": lambda: moved(ablation([0.5] * 3, [0.5] * 3, [7] * 3)),
    "edit, encodings": lambda: figures.edits(edit()),
    "edit, attention": lambda: figures.edits(edit(), view="attention"),
    "edit, outputs": lambda: figures.edits(edit(), view="outputs"),
    "patch map": lambda: figures.patch_map(patching(0, 0.2, 0.75)),
    "reach": lambda: reached(reach(), place=5),
}

VIEWS = ({"experiment": "edit"}, {"experiment": "reach"})

# The key of each chart of the page -> the function of bartviz.figures that draws it.
CHARTS = {
    "worth_": "ablation",
    "ablation_bars": "ablation",
    "moved_": "moved",
    "edit_": "edits",
    "edit_outputs": "edits",
    "edit_patching": "patch_map",
    "reach_": "edits",
}
