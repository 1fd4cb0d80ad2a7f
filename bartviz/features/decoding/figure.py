"""Decoding in one figure: the alignment matrix, and next to it the certainty of each step."""

from __future__ import annotations

from typing import get_args

import numpy as np
import plotly.graph_objects as go

from bartviz.analysis import decoding as analysis
from bartviz.analysis.sentence_words import weights_name
from bartviz.drawing import axes, maps, theme
from bartviz.drawing.arguments import RECORD, expect, expect_word
from bartviz.drawing.colors import Palette
from bartviz.errors import SettingError
from bartviz.language import _, later
from bartviz.record.record import Reading, Record

MAP_END, CURVES_START = 0.55, 0.65  # shares of the width


def decoding(
    record: Record,
    *,
    layer: int | None = None,
    head: int | None = None,
    reading: Reading = "predicts",
    step: int | None = None,
    dark: bool = False,
    height: int | None = None,
) -> go.Figure:
    """Left: the attention of each step, (T, K), one row per step. Right: log p (each step, and the sum) and entropy in
    bits.

    Rows are named by the token they *predict*, or by the one they *read*; columns are the source tokens (a decoder-only
    model: its own earlier tokens). ``head`` None is the mean of the layer's heads, ``layer`` None that of all heads;
    the title says which. ``step`` shows only the rows up to that step. Raises RecordError for a record without steps,
    SettingError for a layer, head or step that is not there.

    >>> figure = bartviz.figures.decoding(record, step=4)
    """
    expect(record, Record, RECORD)
    expect_word(reading, get_args(Reading), "The reading")
    kind = analysis.kind_of(record)
    attention = record.attention(kind)
    weights = analysis.alignment(record, layer=layer, head=head)  # (T, K)
    count = len(weights)
    if step is not None and not 0 <= step < count:
        raise SettingError(later("There is no step {step}: choose 0 to {last}.", step=step, last=count - 1))
    named = analysis.labels(record, reading)
    figure = maps.attention_map(
        weights,
        named,
        attention.key.labels,
        kind=kind,
        mask=_mask(record),
        dark=dark,
        rows=None if step is None else step + 1,
        row=step,
        key_special=attention.key.special,
        query_title=_("query: row predicts ↓") if reading == "predicts" else _("query: row reads ↓"),
        height=height or max(420, axes.height(named, attention.key.labels)),
        title=_("Decoding: {weights}", weights=weights_name(attention, layer, head)),
    )
    figure.update_layout({axis: {"domain": [0, MAP_END]} for axis in ("xaxis", "xaxis2")})
    figure.update_traces(colorbar={"x": 0, "xanchor": "left"}, selector={"type": "heatmap"})
    _add_curves(figure, record, None if step is None else step + 1, dark)
    return figure


def _mask(record: Record) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]] | None:
    """(T, K) True where a step may attend; None if no cell is masked."""
    mask = record.attention(analysis.kind_of(record)).mask[analysis.step_rows(record)]
    return None if mask.all() else mask


def _add_curves(figure: go.Figure, record: Record, shown: int | None, dark: bool) -> None:
    """Log-probability above, entropy below, on the axes 3 and 4; ``shown`` steps are drawn."""
    table = analysis.steps_table(record)[:shown]
    colors, strong = theme.palette(dark), theme.kind_color(analysis.kind_of(record), dark)
    positions = np.arange(len(table), dtype=np.int32)
    names = [theme.escape(label) for label in table["predicts"]]
    token = "<b>%{customdata}</b>"
    common = {"x": positions, "customdata": names, "showlegend": False}
    figure.add_bar(
        **common,
        y=table["log_probability"].to_numpy(),
        xaxis="x3",
        yaxis="y3",
        name="log p of the step",
        marker_color=strong,
        hovertemplate=f"{token}: log p %{{y:.3f}}<extra></extra>",
    )
    figure.add_scatter(
        **common,
        y=table["running_log_probability"].to_numpy(),
        xaxis="x3",
        yaxis="y3",
        mode="lines+markers",
        name="sum of log p",
        line={"color": colors.ink, "width": 2},
        hovertemplate=_("up to {token}: log p {total}", token=token, total="%{y:.3f}") + "<extra></extra>",
    )
    figure.add_bar(
        **common,
        y=table["entropy_bits"].to_numpy(),
        xaxis="x4",
        yaxis="y4",
        name="entropy",
        marker_color=strong,
        hovertemplate=_("{token}: {entropy} bits", token=token, entropy="%{y:.2f}") + "<extra></extra>",
    )
    _place_curves(figure, record, colors)


def _place_curves(figure: go.Figure, record: Record, colors: Palette) -> None:
    """Axes 3 (log-probability) and 4 (entropy): steps along x, named by the token they predict."""
    labels = analysis.labels(record, "predicts")
    every = -(-len(labels) // 24)
    ticks = {
        "domain": [CURVES_START, 1],
        "range": [-0.6, len(labels) - 0.4],
        "tickangle": -45,
        "tickfont": {"family": theme.MONO, "size": 11},
        "tickvals": np.arange(0, len(labels), every, dtype=np.int32),
        "ticktext": [theme.escape(axes.short(label)) for label in labels[::every]],
    }
    title = {"font": {"size": 12, "color": colors.faint}, "standoff": 4}
    figure.update_layout(
        xaxis3=ticks | {"anchor": "y3", "showticklabels": False},
        xaxis4=ticks | {"anchor": "y4", "title": title | {"text": _("step: token predicted")}},
        yaxis3={"domain": [0.54, 1], "anchor": "x3", "title": title | {"text": _("log p (nats), line: sum")}},
        yaxis4={
            "domain": [0, 0.46],
            "anchor": "x4",
            "rangemode": "tozero",
            "title": title | {"text": _("entropy, bits")},
        },
    )
    for axis in ("xaxis3", "xaxis4", "yaxis3", "yaxis4"):
        figure.update_layout({axis: {"automargin": True, "gridcolor": colors.grid, "zeroline": False}})
