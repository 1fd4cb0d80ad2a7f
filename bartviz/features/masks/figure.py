"""Masks as squares: open and closed cells, the numbers that are added, or the weights that remain."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np
import plotly.graph_objects as go

from bartviz.analysis.mask_value import number_of
from bartviz.arrays import Bools, Floats
from bartviz.drawing import axes, masked_cells, theme
from bartviz.drawing.arguments import RECORD, expect
from bartviz.drawing.cells import Part, closed, color_bar, frames, grid, pool
from bartviz.drawing.maps import COLUMN, ROW, attention_map
from bartviz.drawing.side_by_side import side_by_side
from bartviz.errors import SettingError, choices
from bartviz.language import _, later, mark
from bartviz.record.attention import Attention, Kind
from bartviz.record.record import Reading, Record
from bartviz.text.tokens import Tokens

View = Literal["pattern", "additive", "weights"]
VIEWS: tuple[View, ...] = get_args(View)
SIDE = 200  # cells along a side of a square; above, a cell represents a block and is open where any of it is
WRITTEN = 100  # cells: up to this many have their number written in them
TITLES: dict[Kind, str] = {"encoder": mark("Encoder"), "decoder": mark("Decoder"), "cross": mark("Cross-attention")}
SHORT = {"-10,000": "−10⁴", "-1e9": "−10⁹", "lowest": "−∞", "-inf": "−∞"}  # in a cell; the pointer shows all digits
LARGEST, LEAST = 9.0, 5.5  # pixels of the type in cells; smaller, nothing is written


class SharedSize(NamedTuple):
    """Sizes that squares next to each other share: the rows and columns of the largest, and pixels for the longest
    labels.
    """

    rows: int
    columns: int
    left: float
    top: float
    right: float


def shared_size(attentions: Sequence[Attention]) -> SharedSize:
    """The size with which cells of these squares are equal and their tops aligned."""
    labels = [axes.short(label) for one in attentions for label in one.query.labels]
    return SharedSize(
        rows=max(one.shape[2] for one in attentions),
        columns=max(one.shape[3] for one in attentions),
        left=max(map(len, labels)) * 8 + 40,
        top=max(axes.label_room(one.key.labels) for one in attentions) + 44,
        right=max(axes.overhang(one.key.labels) for one in attentions),
    )


def masks(
    record: Record,
    *,
    view: View = "pattern",
    number: str = "lowest",
    layer: int = 0,
    head: int = 0,
    reading: Reading = "reads",
    dark: bool = False,
) -> go.Figure:
    """The record's own masks side by side, one square for each kind; rows attend to columns.

    ``view``: "pattern" (open or closed), "additive" (0 and the ``number`` of ``analysis.added.NUMBERS``, and T5's
    bias), or "weights" of a head after the softmax; layer and head are clamped to what each kind has. ``reading``:
    whether decoder rows are named by the token that they read or by the one that they predict.
    Raises SettingError for an unknown view, number or reading.

    >>> figure = bartviz.figures.masks(record, view="additive")
    """
    expect(record, Record, RECORD)
    squares = [
        square(
            record.attention(kind),
            view=view,
            number=number,
            layer=layer,
            head=head,
            query=record.rows(kind, reading),
            dark=dark,
        )
        for kind in record.kinds
    ]
    named = [_(TITLES[kind]) for kind in record.kinds]
    if view == "weights":
        places = (_place(record.attention(kind), layer, head) for kind in record.kinds)
        named = [f"{title}, L{one}H{two}" for title, (one, two) in zip(named, places, strict=True)]
    return side_by_side(squares, named, dark=dark)


def _place(attention: Attention, layer: int, head: int) -> tuple[int, int]:
    """Layer and head, clamped to the attention."""
    layers, heads = attention.shape[:2]
    return min(max(layer, 0), layers - 1), min(max(head, 0), heads - 1)


def square(
    attention: Attention,
    *,
    view: View = "pattern",
    number: str = "lowest",
    layer: int = 0,
    head: int = 0,
    query: Tokens | None = None,
    row: int | None = None,
    dark: bool = False,
    height: int | None = None,
    within: SharedSize | None = None,
) -> go.Figure:
    """The mask of one kind (Q, K), as in ``masks``; ``query`` replaces the labels of rows, ``row`` frames one.

    ``within`` is the ``shared_size`` of squares that are shown next to this one, all at the same height and width.
    """
    drawn = _square(attention, view, number, layer, head, query, row, dark, height, within)
    if within is not None:
        drawn.update_layout(
            xaxis_range=[-0.5, within.columns - 0.5],
            yaxis_range=[within.rows - 0.5, -0.5],
            margin_l=within.left,
            margin_t=within.top,
            margin_r=within.right,
        )
    return drawn


def _square(
    attention: Attention,
    view: View,
    number: str,
    layer: int,
    head: int,
    query: Tokens | None,
    row: int | None,
    dark: bool,
    height: int | None,
    within: SharedSize | None,
) -> go.Figure:
    if view not in VIEWS:
        raise SettingError(later("Masks are shown as {choices}.", choices=choices(VIEWS)))
    number_of(number)  # raises for an unknown one
    layer, head = _place(attention, layer, head)
    rows = query or attention.query
    if view == "weights":
        return attention_map(
            attention.head(layer, head),
            rows.labels,
            attention.key.labels,
            kind=attention.kind,
            mask=attention.mask,
            query_special=rows.special,
            key_special=attention.key.special,
            row=row,
            dark=dark,
            height=height,
        )
    factor = math.ceil(max(attention.mask.shape) / SIDE)
    largest = attention.mask.shape if within is None else (within.rows, within.columns)
    wide, _high = axes.map_size(*largest, small=height is not None and height < axes.SMALL)
    cell = wide / largest[1]
    traces = (
        _pattern(attention, factor, dark)
        if view == "pattern"
        else _numbers(attention, factor, number, head, cell, dark)
    )
    layout = axes.token_axes(
        rows.labels,
        attention.key.labels,
        query_special=rows.special,
        key_special=attention.key.special,
        pooled=factor,
        row=row,
        height=height,
        dark=dark,
    ) | {"shapes": frames(attention.mask.shape, row, dark)}
    pixels = height or axes.height(rows.labels, attention.key.labels)
    return theme.build([*traces, axes.anchor()], layout, dark=dark, height=pixels)


def _pattern(attention: Attention, factor: int, dark: bool) -> list[Part]:
    """Open cells in the kind's colour, closed ones hatched; the hover text names both."""
    mask, color = attention.mask, theme.tint(attention.kind, dark)
    flat = {"colorscale": [[0, color], [1, color]], "showscale": False}
    return [
        closed(mask, factor, _("{row} may not look at {column}", row=ROW, column=COLUMN)),
        _open(mask, np.zeros(mask.shape, np.float32), factor, _("{row} may look at {column}", row=ROW, column=COLUMN))
        | flat,
        masked_cells.hatching(~mask, dark),
    ]


def _numbers(attention: Attention, factor: int, number: str, head: int, cell: float, dark: bool) -> list[Part]:
    """M of the formula: 0 (or T5's bias of the head) where a row may look, the chosen number elsewhere.

    The numbers are written where they fit into a ``cell`` of that size in pixels.
    """
    mask, color, shared = attention.mask, theme.tint(attention.kind, dark), attention.bias_of(0)
    bias = np.zeros(mask.shape, np.float32) if shared is None else shared[head]  # (Q, K)
    scale: Part = {"colorscale": [[0, color], [1, color]], "showscale": False}
    if attention.bias is not None:
        largest = float(np.abs(bias).max()) or 1.0
        bar = color_bar(_("bias added in this head"), dark, 0)
        scale = {"colorscale": theme.difference_scale(dark), "zmin": -largest, "zmax": largest, "colorbar": bar}
    traces = [
        closed(mask, factor, _added(f"{number_of(number):.3g}")),
        _open(mask, bias, factor, _added("%{z:.3g}")) | scale,
        masked_cells.hatching(~mask, dark),
    ]
    if mask.size > WRITTEN:
        return traces
    ramp, ends = scale["colorscale"], scale.get("zmax", 1.0)
    inks = [theme.ink_on(theme.at(ramp, float(value) / ends / 2 + 0.5)) for value in bias.flat]
    texts = [f"{value:.2g}" if seen else SHORT[number] for seen, value in zip(mask.flat, bias.flat, strict=True)]
    size = min(LARGEST, (cell - 2) / (0.6 * max(map(len, texts))))  # a digit of the type is 0.6 of its height wide
    return traces if size < LEAST else [*traces, _written(mask, texts, size, inks, dark)]


def _added(number: str) -> str:
    return _("{row} to {column}: {number} is added", row=ROW, column=COLUMN, number=number)


def _open(mask: Bools, values: Floats, factor: int, words: str) -> Part:
    """The open cells, with thin gaps between them if there are few."""
    gap = 1 if max(mask.shape) <= 40 else 0
    return {
        "type": "heatmap",
        "name": "open",
        "z": pool(np.where(mask, values, np.float32(np.nan)), factor),
        **grid(factor),
        "xgap": gap,
        "ygap": gap,
        "hoverongaps": False,
        "hovertemplate": f"{words}<extra></extra>",
    }


def _written(mask: Bools, texts: list[str], size: float, inks: list[str], dark: bool) -> Part:
    """The numbers in the cells of a small square, above the hatching."""
    y, x = np.indices(mask.shape, dtype=np.int16)  # (Q, K) each
    return {
        "type": "scatter",
        "mode": "text",
        "name": "numbers",
        "x": x.ravel(),
        "y": y.ravel(),
        "text": texts,
        "xaxis": "x2",
        "yaxis": "y2",
        "hoverinfo": "skip",
        "showlegend": False,
        "textfont": {
            "family": theme.MONO,
            "size": size,
            "color": [color if seen else theme.palette(dark).ink for color, seen in zip(inks, mask.flat, strict=True)],
        },
    }
