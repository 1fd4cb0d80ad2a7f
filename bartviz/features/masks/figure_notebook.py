"""The smaller figures of the page masks, for notebooks: each from a record's attention or a model's name.

Letters in shapes: L layers, H heads, Q query rows, K key columns, n tokens.
"""

from __future__ import annotations

import plotly.graph_objects as go

from bartviz.analysis import mask_patterns as shapes
from bartviz.drawing.arguments import ATTENTION, expect
from bartviz.errors import SettingError
from bartviz.features.masks import figure_patterns as patterns
from bartviz.record.attention import Attention
from bartviz.record.softmax import masked_softmax


def pattern(
    attention: Attention,
    name: str,
    *,
    layer: int = 0,
    head: int = 0,
    row: int = 0,
    most: int = 24,
    dark: bool = False,
    **settings: int,
) -> go.Figure:
    """One row of self-attention with nothing closed and under another mask.

    ``name`` of ``analysis.mask_patterns.PATTERNS``; the first ``most`` tokens; ``settings`` such as ``window=2``
    are those of the pattern. Raises SettingError.

    >>> figure = bartviz.figures.pattern(record.encoder, "window", window=2)
    """
    expect(attention, Attention, ATTENTION)
    if attention.kind == "cross":
        raise SettingError("A pattern applies to one text: choose encoder or decoder attention.")
    short = shapes.cut(attention, most)
    short.check(layer, head)
    if not 0 <= row < short.shape[2]:
        raise SettingError(f"There is no row {row}: choose 0 to {short.shape[2] - 1}.")
    mask = shapes.pattern(name, short.shape[2], **settings)
    scores = short.scores(layer, head)
    before, after = (masked_softmax(scores.copy(), one) for one in (short.mask, mask))
    return patterns.row_bars(
        before[row], after[row], short.key.labels, kind=short.kind, mask=mask[row], special=short.key.special, dark=dark
    )
