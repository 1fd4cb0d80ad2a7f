"""The smaller figures of the page inside, for notebooks: each from a record's attention or a model's name.

Letters in shapes: L layers, H heads, Q query rows, K key columns, n tokens.
"""

from __future__ import annotations

import plotly.graph_objects as go

from bartviz.analysis import activations
from bartviz.analysis import inside as arithmetic
from bartviz.analysis import scaling as unscaled
from bartviz.analysis.inside import Inside
from bartviz.drawing.arguments import ATTENTION, RECORD, expect
from bartviz.errors import SettingError
from bartviz.features.inside import figure_around_attention as around
from bartviz.features.inside import figure_products as products
from bartviz.record.attention import Attention
from bartviz.record.record import Record


def score(
    attention: Attention,
    layer: int,
    head: int,
    row: int = 0,
    *,
    key: int | None = None,
    by_size: bool = False,
    dark: bool = False,
) -> go.Figure:
    """The products of one query and one key, dimension by dimension, up to q · k; ``key`` None is the strongest one.

    ``by_size``: the largest first. Raises SettingError for a layer, head, row or key that is not there.

    >>> figure = bartviz.figures.score(record.cross, 2, 0, row=3, by_size=True)
    """
    one = _one(attention, layer, head, row)
    at = one.strongest if key is None else key
    if not 0 <= at < attention.shape[3]:
        raise SettingError(f"There is no key {at}: choose 0 to {attention.shape[3] - 1}.")
    return products.products(one, at, by_size=by_size, dark=dark)


def share(attention: Attention, layer: int, head: int, row: int = 0, *, dark: bool = False) -> go.Figure:
    """The contribution of each head of a layer to one row, as shares of their lengths. Needs values. Raises
    SettingError.

    >>> figure = bartviz.figures.share(record.cross, 2, 0, row=3)
    """
    one = _one(attention, layer, head, row)
    if one.shares is None:
        raise SettingError("This record was made without values. Run the text again with values=True.")
    return products.share(one, dark=dark)


def scaling(attention: Attention, layer: int, head: int | None = None, *, dark: bool = False) -> go.Figure:
    """Scores and entropies with the division by the root of d and without it, for one head or all heads of a layer.

    >>> figure = bartviz.figures.scaling(record.cross, 2)
    """
    expect(attention, Attention, ATTENTION)
    return around.scaling(unscaled.scaling(attention, layer, head), attention.kind, dark=dark)


def growth(attention: Attention, row: int = 0, *, layer: int = 0, dark: bool = False) -> go.Figure:
    """The length of what each layer's attention adds to one row; ``layer`` is filled. Needs values. SettingError.

    >>> figure = bartviz.figures.growth(record.cross, 3)
    """
    expect(attention, Attention, ATTENTION)
    attention.check(layer, 0)
    return around.growth(arithmetic.growth(attention, row), layer, attention.kind, dark=dark)


def activation(record: Record, *, dark: bool = False) -> go.Figure:
    """GELU and ReLU from -4 to 4; the one that the record's model has is the thick line.

    >>> figure = bartviz.figures.activation(record)
    """
    expect(record, Record, RECORD)
    return around.activation(activations.activation_function(record.model)[0], dark=dark)


def norms(record: Record, *, dark: bool = False) -> go.Figure:
    """Layer norm before or after each part: the two orders as boxes, that of the record's model in colour.

    >>> figure = bartviz.figures.norms(record)
    """
    expect(record, Record, RECORD)
    return around.norms(record.model.known.norm == "pre", record.kinds[0], dark=dark)


def _one(attention: Attention, layer: int, head: int, row: int) -> Inside:
    expect(attention, Attention, ATTENTION)
    return arithmetic.inside(attention, layer, head, row)
