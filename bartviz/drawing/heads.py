"""Maps of heads: one large and exact, all heads of a layer small, or all heads of all layers small."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from bartviz.analysis import head_view as analysis
from bartviz.analysis.thumbnails import MASKED, ONE, Bytes, Small, thumbnails
from bartviz.analysis.weight_scale import Range
from bartviz.drawing import axes, theme
from bartviz.drawing.arguments import ATTENTION, expect
from bartviz.drawing.cells import BUTTONS, Part, unseen
from bartviz.drawing.maps import attention_map
from bartviz.errors import SettingError
from bartviz.language import _
from bartviz.record.attention import Attention, HeadName, Kind
from bartviz.text.tokens import Tokens

GAP = 0.1  # of a small map, between two of them


def heads(
    attention: Attention,
    *,
    layer: int | None = None,
    head: int | HeadName | None = None,
    mean: bool = False,
    query: Tokens | None = None,
    words: bool = False,
    hide_sinks: bool = False,
    renormalise: bool = False,
    range: Range = "fixed",  # noqa: A002
    dark: bool = False,
) -> go.Figure:
    """Attention of one kind: thumbnails of all heads; with ``layer`` the heads of that layer; with ``head`` too, or
    with its name alone ("cross L2H5"), one large map.

    ``mean``: the mean of the heads of ``layer`` (without it of all heads), large; the title says so. Rows attend to
    columns. The large map is exact; small ones show the largest weight of each block of tokens. ``query`` replaces the
    labels of rows, ``words`` merges pieces, ``hide_sinks`` leaves out special tokens and ends of sentences, with their
    share in the title. Raises SettingError for a layer or head that is not there.

    >>> figure = bartviz.figures.heads(record.cross, layer=2)
    """
    expect(attention, Attention, ATTENTION)
    if head is not None and not isinstance(head, int):
        if layer is not None:
            raise SettingError("The name of a head has its layer in it: leave the layer out.")
        layer, head = attention.place(head)
    if head is not None and layer is None:
        raise SettingError("A head belongs to a layer: name the layer too, or leave both out for all heads.")
    if head is not None and mean:
        raise SettingError("A head or a mean of heads: leave one of the two out.")
    if layer is not None:
        attention.check(layer, head or 0)
    if head is not None or mean:
        shown = analysis.view(
            attention, layer, head, query=query, words=words, hide_sinks=hide_sinks, renormalise=renormalise
        )
        note = analysis.hidden_note(shown)
        return one(shown, range=range, title=f"{shown.name}. {note}".strip(), dark=dark)
    keys = ~analysis.sinks(attention) if hide_sinks else None
    small = thumbnails(attention, None if layer is None else [layer], keys=keys, span=range)
    return overview(small, kind=attention.kind, dark=dark)


def one(
    shown: analysis.View,
    *,
    range: Range = "fixed",  # noqa: A002
    title: str | None = None,
    height: int | None = None,
    dark: bool = False,
) -> go.Figure:
    """A view as one large map, at most ``height`` pixels high."""
    if height is not None:
        height = axes.fitting(height, shown.query_labels, shown.key_labels)
    return attention_map(
        shown.weights,
        shown.query_labels,
        shown.key_labels,
        kind=shown.kind,
        mask=shown.mask,
        range=range,
        query_special=shown.query_special,
        key_special=shown.key_special,
        title=title,
        query_title=_("query: row predicts ↓") if shown.predicts else None,
        height=height,
        dark=dark,
    )


def overview(small: Small, *, kind: Kind, dark: bool = False) -> go.Figure:
    """Small maps on a grid: layers down and heads across, or one layer's heads in several lines.

    A click on a small map reports its layer and head as plotly's customdata.
    """
    maps, layers = small.cells, small.layers
    grid = _Grid(*maps.shape[:2])
    layout = _grid_axes(grid, layers, maps, dark) | {"hoverdistance": -1, "modebar": BUTTONS}
    traces = [_image(maps, grid, kind, dark), _frames(grid, dark), _names(small, grid)]
    return theme.build(traces, layout, dark=dark, height=_height(grid, maps))


class _Grid:
    """The positions of the small maps: one line for each layer, or several lines for the heads of one layer."""

    def __init__(self, layers: int, heads: int) -> None:
        self.one = layers == 1
        self.across = min(heads, math.ceil(math.sqrt(heads * 1.6))) if self.one else heads
        self.down = math.ceil(heads / self.across) if self.one else layers
        place = np.arange(layers * heads)
        self.x, self.y = place % self.across, place // self.across  # (L * H,) each, in small maps


def _image(small: Bytes, grid: _Grid, kind: Kind, dark: bool) -> Part:
    """All small maps as one heatmap of bytes, one unit of the axes for each map with its gap."""
    rows, columns = small.shape[2:]
    high, wide = (side + max(1, round(side * GAP)) for side in (rows, columns))
    image = np.zeros((grid.down * high, grid.across * wide), np.uint8)
    for x, y, one_map in zip(grid.x, grid.y, small.reshape(-1, rows, columns), strict=True):
        image[y * high : y * high + rows, x * wide : x * wide + columns] = one_map
    return {
        "type": "heatmap",
        "name": "small maps",
        "z": image,
        "zmin": 0,
        "zmax": MASKED,
        "showscale": False,
        "x0": 0.5 / wide,
        "dx": 1 / wide,
        "y0": 0.5 / high,
        "dy": 1 / high,
        "colorscale": _byte_scale(kind, dark),
        "hoverinfo": "skip",
    }


def _byte_scale(kind: Kind, dark: bool) -> theme.Scale:
    """The kind's scale from 0 to the byte of a weight of 1, and grey for what is masked."""
    ramp = theme.scale(kind, dark)
    grey = theme.palette(dark).masked
    edge = (ONE + MASKED) / 2 / MASKED
    stops: theme.Scale = [[float(place) * ONE / MASKED, color] for place, color in ramp]
    return [*stops, [edge, ramp[-1][1]], [edge, grey], [1.0, grey]]


def _frames(grid: _Grid, dark: bool) -> Part:
    """A thin frame around every small map, as one path."""
    inner = np.float32(1 / (1 + GAP))
    corner_x = np.array([0, inner, inner, 0, 0, np.nan], np.float32)
    corner_y = np.array([0, 0, inner, inner, 0, np.nan], np.float32)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "frames",
        "hoverinfo": "skip",
        "showlegend": False,
        "x": (grid.x[:, None] + corner_x).astype(np.float32).ravel(),
        "y": (grid.y[:, None] + corner_y).astype(np.float32).ravel(),
        "line": {"color": theme.palette(dark).hatch, "width": 1, "simplify": False},
    }


def _names(small: Small, grid: _Grid) -> Part:
    """Points in the middle of each small map, for hover texts and clicks."""
    heads = np.arange(small.strongest.shape[1])
    place = np.array([(layer, head) for layer in small.layers for head in heads], np.float32)  # (L * H, 2)
    return unseen(
        grid.x + np.float32(0.45),
        grid.y + np.float32(0.45),
        name="heads",
        size=14,
        customdata=np.column_stack([place, small.strongest.ravel()]).astype(np.float32),
        hovertemplate=_(
            "{head}, strongest weight {weight}",
            head="<b>L%{customdata[0]}H%{customdata[1]}</b>",
            weight="%{customdata[2]:.2f}",
        )
        + "<extra></extra>",
    )


def _aspect(small: Bytes) -> float:
    """Height of a small map over its width, limited to a readable ratio."""
    return float(np.clip(small.shape[2] / small.shape[3], 0.5, 1.6))


def _height(grid: _Grid, small: Bytes) -> int:
    """Pixels for small maps of about 90 pixels, fewer where there are many."""
    wide = min(90.0, 360 / grid.across)
    return int(min(70 + grid.down * max(wide * _aspect(small), 18), 620))


def _grid_axes(grid: _Grid, layers: Sequence[int], small: Bytes, dark: bool) -> Part:
    """Heads across and layers down, counted from 0; in a single layer's lines each line begins with its first head."""
    faint = {"size": 12, "color": theme.palette(dark).faint}
    plain = {"showgrid": False, "zeroline": False, "ticks": "", "tickfont": {"family": theme.MONO, "size": 12}}
    across, down = np.arange(grid.across), np.arange(grid.down)
    heads = _("layer {layer}, its heads →", layer=layers[0]) if grid.one else _("heads →")
    lines = [f"H{line * grid.across}" for line in down] if grid.one else [f"L{layer}" for layer in layers]
    columns = [f"+{place}" if place else "" for place in across] if grid.one else [f"H{head}" for head in across]
    return {
        "xaxis": plain
        | {
            "tickvals": across + 0.45,
            "ticktext": columns,
            "range": [-0.05, grid.across],
            "side": "top",
            "title": {"text": heads, "font": faint},
            "constrain": "domain",
            "constraintoward": "left",
        },
        "yaxis": plain
        | {
            "tickvals": down + 0.45,
            "ticktext": lines,
            "range": [grid.down, -0.05],
            "scaleanchor": "x",
            "scaleratio": _aspect(small),
            "constrain": "domain",
            "constraintoward": "top",
            "title": {"text": "" if grid.one else axes.turned(_("layers ↓")), "font": faint},
        },
    }
