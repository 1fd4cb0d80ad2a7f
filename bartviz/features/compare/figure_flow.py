"""Beyond the weights of one head: a layer's mean and rollout, a head's weights and contributions."""

from __future__ import annotations

import plotly.graph_objects as go

from bartviz.analysis import attention_vs_contribution, head_view, sentence_words
from bartviz.analysis import rollout as analysis
from bartviz.analysis.weight_scale import Range
from bartviz.arrays import Floats
from bartviz.drawing import maps
from bartviz.drawing.arguments import ATTENTION, expect
from bartviz.drawing.maps import Says
from bartviz.drawing.side_by_side import side_by_side
from bartviz.language import _, mark
from bartviz.record.attention import Attention
from bartviz.text.tokens import Tokens

WEIGHT, REACHES, TAKES = ("weight", "attends to"), ("share that reaches", "is fed by"), ("contribution", "takes from")
_SAYS = {
    WEIGHT: maps.WEIGHT,
    REACHES: Says(
        {
            "fixed": mark("share that arrives, 0 to 1"),
            "row": mark("share that arrives, relative to the row's largest"),
            "log": mark("share that arrives, powers of ten"),
        },
        mark("{row} receives from {column}: {weight}"),
    ),
    TAKES: Says(
        {
            "fixed": mark("contribution, 0 to 1"),
            "row": mark("share of the row's largest contribution"),
            "log": mark("contribution, powers of ten"),
        },
        mark("contribution of {column} to {row}: {weight}"),
    ),
}


def rollout(
    attention: Attention,
    layer: int | None = None,
    *,
    range: Range = "fixed",  # noqa: A002
    dark: bool = False,
) -> go.Figure:
    """Left the mean of a layer's heads, right the rollout up to that layer (by default the last), same colours.

    Abnar and Zuidema 2020. Raises SettingError for cross-attention, or a layer that is not there.

    >>> figure = bartviz.figures.rollout(record.encoder)
    """
    expect(attention, Attention, ATTENTION)
    last = attention.shape[0] - 1 if layer is None else layer
    rolled = analysis.rollout(attention, last)
    drawn = [
        flow_map(head_view.mean(attention, last), attention, range=range, dark=dark),
        flow_map(rolled, attention, words=REACHES, range=range, dark=dark),
    ]
    title = _("rollout, {kind} layers 0 to {layer}", kind=sentence_words.kind(attention.kind), layer=last)
    return side_by_side(drawn, [head_view.name(attention, last), title], dark=dark)


def contribution(
    attention: Attention,
    layer: int,
    head: int,
    *,
    query: Tokens | None = None,
    range: Range = "fixed",  # noqa: A002
    dark: bool = False,
) -> go.Figure:
    """Left a head's weights, right its norm-weighted attention (each row divided by its sum), same colours.

    Kobayashi et al. 2020, equation 3. ``query`` replaces the labels of rows. Raises SettingError for a record without
    values, or a head that is not there.

    >>> figure = bartviz.figures.contribution(record.cross, 2, 0)
    """
    expect(attention, Attention, ATTENTION)
    found = attention_vs_contribution.weigh(attention, layer, head, query=query)
    drawn = [
        flow_map(found.attention, attention, rows=found.query, range=range, dark=dark),
        flow_map(found.contribution, attention, rows=found.query, words=TAKES, range=range, dark=dark),
    ]
    titles = [
        _("weights of {head}", head=head_view.name(attention, layer, head)),
        _("contributions, rank correlation {rank:.2f}", rank=found.rank),
    ]
    return side_by_side(drawn, titles, dark=dark)


def flow_map(
    weights: Floats,
    attention: Attention,
    *,
    rows: Tokens | None = None,
    words: tuple[str, str] = WEIGHT,
    range: Range = "fixed",  # noqa: A002
    height: int | None = None,
    dark: bool = False,
) -> go.Figure:
    """Numbers (Q, K) with the axes and the mask of an attention; ``words`` name the colours and the rows: WEIGHT,
    REACHES or TAKES."""
    query = rows or attention.query
    return maps.attention_map(
        weights,
        query.labels,
        attention.key.labels,
        kind=attention.kind,
        mask=attention.mask,
        range=range,
        query_special=query.special,
        key_special=attention.key.special,
        height=height,
        dark=dark,
        says=_SAYS[words],
    )
