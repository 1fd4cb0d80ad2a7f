"""The smaller figures of the page inputs, for notebooks: each from a record's attention or a model's name.

Letters in shapes: L layers, H heads, Q query rows, K key columns, n tokens.
"""

from __future__ import annotations

import plotly.graph_objects as go

from bartviz.analysis import positions as of_positions
from bartviz.analysis.inputs import Inputs
from bartviz.analysis.positions import Floats
from bartviz.drawing.arguments import ATTENTION, expect
from bartviz.errors import SettingError
from bartviz.features.inputs.figure import positions as similarities
from bartviz.features.inputs.figure import relative
from bartviz.features.inputs.figure import shift as shifts
from bartviz.record.attention import Attention

INPUTS = "the result of bartviz.experiments.embeddings.inputs(model, record)"
MOST = 128  # positions of a table that are compared


def positions(one: Inputs, *, dark: bool = False) -> go.Figure:
    """Similarity of the model's positions for this text (at most 128), and of as many sinusoidal ones.

    >>> from bartviz.experiments.embeddings import inputs
    >>> figure = bartviz.figures.positions(inputs(model, record))
    """
    return similarities(_table(one), dark=dark)


def shift(one: Inputs, *, dark: bool = False) -> go.Figure:
    """How well a linear map shifts positions: learned and sinusoidal ones.

    >>> from bartviz.experiments.embeddings import inputs
    >>> figure = bartviz.figures.shift(inputs(model, record))
    """
    return shifts(of_positions.shift(_table(one)), dark=dark)


def bias(attention: Attention, *, dark: bool = False) -> go.Figure:
    """T5's number for each distance, a line for each head. Raises SettingError for attention without one.

    >>> figure = bartviz.figures.bias(t5.encoder)  # t5: a record of a T5 model
    """
    expect(attention, Attention, ATTENTION)
    bias = attention.bias_of(0)
    if bias is None or attention.kind == "cross":
        raise SettingError("This attention has no bias by distance: choose a T5 model, encoder or decoder.")
    return relative(bias, attention.kind, dark=dark)


def _table(one: Inputs) -> Floats:
    """(P, e) the first rows of the position table. Raises SettingError for a model that has none."""
    expect(one, Inputs, INPUTS)
    if one.table is None:
        raise SettingError("This model has no position embeddings: draw its bias by distance, figures.bias.")
    return one.table[:MOST]
