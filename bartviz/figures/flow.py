"""Beyond one head's weights: a layer's mean beside rollout, and a head's weights beside what they bring."""

from __future__ import annotations

import plotly.graph_objects as go

from bartviz.analysis import heads, weighing
from bartviz.analysis import rollout as analysis
from bartviz.attention import Attention, Floats, Tokens
from bartviz.figures.beside import beside
from bartviz.figures.maps import Range, attention_map

WEIGHT, REACHES, TAKES = ("weight", "attends to"), ("share that reaches", "is fed by"), ("contribution", "takes from")


def rollout(
    attention: Attention,
    layer: int | None = None,
    *,
    range: Range = "fixed",  # noqa: A002
    dark: bool = False,
) -> go.Figure:
    """Left the mean of a layer's heads, right the rollout up to that layer (the last one if not told), same colours.

    Abnar and Zuidema 2020. Raises SettingError for cross-attention, or a layer that is not there.
    """
    last = attention.shape[0] - 1 if layer is None else layer
    rolled = analysis.rollout(attention, last)
    maps = [
        flow_map(heads.mean(attention, last), attention, range=range, dark=dark),
        flow_map(rolled, attention, words=REACHES, range=range, dark=dark),
    ]
    return beside(maps, [heads.name(attention, last), f"rollout, {attention.kind} layers 0 to {last}"], dark=dark)


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

    Kobayashi et al. 2020, equation 3. ``query`` names the rows otherwise. Raises SettingError for a record without
    values, or a head that is not there.
    """
    found = weighing.weigh(attention, layer, head, query=query)
    maps = [
        flow_map(found.attention, attention, rows=found.query, range=range, dark=dark),
        flow_map(found.contribution, attention, rows=found.query, words=TAKES, range=range, dark=dark),
    ]
    titles = [f"weights of {heads.name(attention, layer, head)}", f"contributions, rank correlation {found.rank:.2f}"]
    return beside(maps, titles, dark=dark)


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
    """Numbers (Q, K) with the axes and the mask of an attention; ``words`` say what a colour is and what a row does."""
    query = rows or attention.query
    drawn = attention_map(
        weights, query.labels, attention.key.labels, kind=attention.kind, mask=attention.mask, range=range,
        query_special=query.special, key_special=attention.key.special, height=height, dark=dark,
    )  # fmt: skip
    cells = next(iter(drawn.select_traces({"name": "weights"})))
    cells.colorbar.title.text = cells.colorbar.title.text.replace(WEIGHT[0], words[0])
    cells.hovertemplate = cells.hovertemplate.replace(WEIGHT[1], words[1])
    return drawn
