"""The smaller figures of the page compare, for notebooks: each from a record's attention or a model's name.

Letters in shapes: L layers, H heads, Q query rows, K key columns, n tokens.
"""

from __future__ import annotations

import math

import plotly.graph_objects as go

from bartviz.analysis.measures import measures
from bartviz.drawing.arguments import ATTENTION, expect
from bartviz.errors import SettingError
from bartviz.features.compare import numbers_similar as similar
from bartviz.features.compare.figure import alike
from bartviz.record.attention import Attention
from bartviz.text.tokens import Tokens

_MOST_HEADS = 2_500  # GPT-2 XL has 1,200


def likeness(attention: Attention, *, query: Tokens | None = None, dark: bool = False) -> go.Figure:
    """All heads of one kind in a plane in which similar heads are close together (after Clark et al. 2019, 6).

    ``query`` replaces the labels of rows. Raises SettingError if there is a single head, no row with a choice, or very
    many heads: the time grows with the cube of their number.

    >>> figure = bartviz.figures.likeness(record.encoder)
    """
    expect(attention, Attention, ATTENTION)
    count = math.prod(attention.shape[:2])
    if count > _MOST_HEADS:
        raise SettingError(f"There are {count:,} heads; at most {_MOST_HEADS:,} are compared with each other.")
    found = similar.likeness(attention, query=query)
    if found is None:
        raise SettingError("There is nothing to lay out: a single head, or no row with a choice of keys.")
    return alike(measures(attention, query=query), found, dark=dark)
