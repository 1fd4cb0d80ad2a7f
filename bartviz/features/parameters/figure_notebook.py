"""The smaller figures of the page parameters, for notebooks: each from a record's attention or a model's name.

Letters in shapes: L layers, H heads, Q query rows, K key columns, n tokens.
"""

from __future__ import annotations

from typing import Literal

import plotly.graph_objects as go

from bartviz.analysis import article_models
from bartviz.analysis.costs import Costs
from bartviz.drawing.arguments import expect_word
from bartviz.errors import SettingError
from bartviz.features.parameters import figure_costs as costs
from bartviz.features.parameters.figure import sizes as bars


def cost(
    model: str,
    length: int = 512,
    *,
    view: Literal["operations", "memory", "decoding"] = "operations",
    dark: bool = False,
) -> go.Figure:
    """The costs of a length, from the model's configuration: operations, bytes, or decoding steps with and without a
    cache.

    Raises ModelError for a model that is not known, SettingError for a view or an encoder's decoding.

    >>> figure = bartviz.figures.cost("facebook/bart-base", 512, view="memory")
    """
    expect_word(view, ("operations", "memory", "decoding"), "The view of costs")
    own = Costs(model)
    if view == "decoding":
        if own.sizes.decoder is None:
            raise SettingError("This model does not write: choose operations or memory.")
        return costs.decoding(own, length, min(length, own.sizes.positions or length, 1024), dark=dark)
    return (costs.operations if view == "operations" else costs.memory)(own, length, dark=dark)


def sizes(*, dark: bool = False) -> go.Figure:
    """The articles' models as bars of parts, in millions; a diamond is the number in the articles.

    >>> figure = bartviz.figures.sizes()
    """
    return bars(article_models.models(), dark=dark)
