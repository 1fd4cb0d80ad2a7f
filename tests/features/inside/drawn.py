"""Figures and views of this feature, which the tests of all figures and all pages read."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import plotly.graph_objects as go

from bartviz import figures
from bartviz.analysis import inside, scaling
from bartviz.features.inside import figure_around_attention as around_attention
from bartviz.features.inside import figure_products as products
from tests.attribution.test_lens import by_hand as lens
from tests.figures.shown import LONG, RECORD, attention, biased


def one(row: int, bias: bool = False) -> inside.Inside:
    return inside.inside(biased() if bias else RECORD.attention("decoder"), 1, 2, row)


FIGURES: dict[str, Callable[[], go.Figure]] = {
    "inside": lambda: figures.inside(attention("decoder"), 1, 2, row=3, most=2),
    "inside, long": lambda: figures.inside(LONG.attention("encoder"), 1, 2, row=3),
    "inside, bias": lambda: figures.inside(biased(), 0, 0, row=2),
    "products": lambda: products.products(one(3), 1, by_size=True),
    "share": lambda: products.share(one(3)),
    "scaling": lambda: around_attention.scaling(scaling.scaling(attention("decoder"), 1), "decoder"),
    "activation": lambda: around_attention.activation("gelu_new"),
    "lens": lambda: figures.lens(lens()),
    "norms": lambda: around_attention.norms(True, "encoder"),
    "growth": lambda: around_attention.growth(np.arange(1.0, 4.0, dtype=np.float32), 1, "encoder"),
}

VIEWS = ({"around": "activation"}, {"around": "norms"}, {"kind": "encoder", "order": "largest"})

# The key of each chart of the page -> the function of bartviz.figures that draws it.
CHARTS = {
    "inside_row_": "inside",
    "inside_products": "score",
    "inside_share": "share",
    "inside_scaling": "scaling",
    "inside_gelu": "activation",
    "inside_norms": "norms",
    "inside_growth": "growth",
    "inside_residual": "residual",
    "inside_lens": "lens",
}
