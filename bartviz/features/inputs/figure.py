"""The lengths of the summed embeddings token by token, maps of positions, how far a shift is linear, T5's bias."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from bartviz.analysis import inputs as analysis
from bartviz.analysis.inputs import Inputs
from bartviz.analysis.positions import Floats, Shift, distances, similarity, sinusoidal
from bartviz.drawing import theme
from bartviz.drawing.arguments import expect
from bartviz.drawing.cells import BUTTONS, Part
from bartviz.drawing.colors import VALUE
from bartviz.language import _

ROW, GAP = 78, 0.05  # pixels of one line of bars; share of the height between two
NAMED = 48  # tokens that are named below the bars


def inputs(one: Inputs, *, dark: bool = False) -> go.Figure:
    """One line of bars for each part, for their sum and for what follows it: the length of each token's vector.

    ``one`` is the result of ``experiments.embeddings.inputs(model, record)``. Parts and sum share one scale and can be
    compared; the vectors after LayerNorm have their own.

    >>> from bartviz.experiments.embeddings import inputs
    >>> figure = bartviz.figures.inputs(inputs(model, record))
    """
    expect(one, Inputs, "the result of bartviz.experiments.embeddings.inputs(model, record)")
    lengths, share = analysis.norms(one), analysis.shares(one)
    count, places = len(lengths), np.arange(len(one.tokens))
    own = max(float(lengths[name].max(initial=0)) for name in (*one.parts, "sum")) or 1.0
    labels = [theme.escape(label) for label in one.tokens.labels]
    color, colors = theme.kind_color(one.stack, dark), theme.palette(dark)
    traces: list[Part] = []
    layout: dict[str, Any] = {"xaxis": _names(labels, f"y{count}" if count > 1 else "y")}
    height = (1 - GAP * (count - 1)) / count
    for line, (name, values) in enumerate(lengths.items()):
        axis = "y" if line == 0 else f"y{line + 1}"
        said = _(name)
        hover = [f"{label}, {said}: {value:.3f}" for label, value in zip(labels, values, strict=True)]
        if name in share:
            hover = [
                _("{said}, {share:.1%} of the sum", said=one, share=part)
                for one, part in zip(hover, share[name], strict=True)
            ]
        shade = color if name not in share else theme.tint(one.stack, dark)
        traces.append(
            {
                "type": "bar",
                "name": name,
                "x": places,
                "y": values,
                "yaxis": axis,
                "hovertext": hover,
                "hoverinfo": "text",
                "marker": {"color": shade, "line": {"color": color, "width": 1}},
            }
        )
        top = 1 - line * (height + GAP)
        most = own if name in share or name == "sum" else float(values.max(initial=0)) or 1.0
        layout[f"yaxis{'' if line == 0 else line + 1}"] = {
            "domain": [max(top - height, 0), top],
            "range": [0, most * 1.08],
            "nticks": 3,
            "anchor": "x",
            "tickfont": {"size": 11},
            "title": {"text": said, "font": {"size": 12, "color": colors.ink}},
        }
    layout |= {"bargap": 0.25, "showlegend": False, "modebar": BUTTONS, "hovermode": "closest"}
    return theme.build(traces, layout, dark=dark, height=70 + ROW * count)


def _names(labels: list[str], anchor: str) -> Part:
    every = -(-len(labels) // NAMED)
    places = list(range(0, len(labels), every))
    return {
        "anchor": anchor,
        "tickvals": places,
        "ticktext": [labels[i] for i in places],
        "showgrid": False,
        "range": [-0.6, len(labels) - 0.4],
        "tickangle": -45 if len(labels) > 14 else 0,
        "tickfont": {"family": theme.MONO, "size": 12},
    }


def _title(text: str) -> Part:
    return {"text": text, "font": {"size": 13}}


def positions(table: Floats, *, name: str | None = None, dark: bool = False) -> go.Figure:
    """Cosine similarity of every two positions: of this table (P, e), and of a sinusoidal one of the same size.

    name: that of the table; by default it is called learned.
    """
    rows, width = table.shape
    wave = similarity(sinusoidal(rows, width))
    maps = ((name or _("learned"), similarity(table)), (_("sinusoidal"), wave))
    traces, notes, layout = [], [], dict[str, Any]()
    for column, (title, values) in enumerate(maps):
        said = _(
            "{table}: positions {row} and {column}, cosine {cosine}",
            table=theme.escape(title),
            row="%{y}",
            column="%{x}",
            cosine="%{z:.3f}",
        )
        axis = "" if column == 0 else "2"
        place = [0.0, 0.48] if column == 0 else [0.52, 1.0]
        traces.append(
            {
                "type": "heatmap",
                "name": title,
                "z": values.astype(np.float32),
                "zmin": -1,
                "zmax": 1,
                "colorscale": theme.difference_scale(dark),
                "xaxis": f"x{axis}",
                "yaxis": f"y{axis}",
                "showscale": column == 1,
                "colorbar": {"thickness": 12, "title": {"text": _("cosine"), "font": {"size": 13}}},
                "hovertemplate": f"{said}<extra></extra>",
            }
        )
        layout[f"xaxis{axis}"] = {
            "domain": place,
            "anchor": f"y{axis}",
            "title": _title(_("position")),
            "showgrid": False,
        }
        layout[f"yaxis{axis}"] = {
            "anchor": f"x{axis}",
            "range": [rows - 0.5, -0.5],
            "showgrid": False,
            "title": _title(_("position") if column == 0 else ""),
            "showticklabels": column == 0,  # both have the same rows, and a phone has no room for them twice
        }
        notes.append(
            {
                "text": f"<b>{theme.escape(title)}</b>",
                "x": place[0],
                "xref": "paper",
                "xanchor": "left",
                "y": 1,
                "yref": "paper",
                "yanchor": "bottom",
                "showarrow": False,
            }
        )
    layout |= {"annotations": notes, "modebar": BUTTONS, "margin": {"l": 8, "r": 8, "t": 32, "b": 8}}
    return theme.build(traces, layout, dark=dark, height=390)


def shift(found: Shift, *, dark: bool = False) -> go.Figure:
    """The error of a linear map by the size of the shift: for the learned table, and for a sinusoidal one."""
    colors = theme.palette(dark)
    lines = (
        (_("learned, held-out positions"), found.held, theme.letters(VALUE, dark), "solid", "circle"),
        (_("sinusoidal, fitted in the same way"), found.control, colors.faint, "dash", "square"),
        (_("sinusoidal, by its rotation"), found.exact, colors.ink, "dot", "diamond"),
    )
    said = _("shift by {shift}: {missed}", shift="%{x}", missed="%{y:.3g}")
    traces: list[Part] = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": name,
            "x": found.shifts,
            "y": values,
            "line": {"color": color, "dash": dash, "width": 2},
            "marker": {"symbol": symbol, "size": 7},
            "hovertemplate": f"{said}<extra>{name}</extra>",
        }
        for name, values, color, dash, symbol in lines
    ]
    most = max(1.0, float(np.max([found.held.max(), found.control.max()])))
    layout = {
        "xaxis": {"title": _title(_("positions shifted by")), "dtick": max(1, len(found.shifts) // 8)},
        "yaxis": {"title": _title(_("error (1 = predicting the mean)")), "range": [-0.03 * most, 1.06 * most]},
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        "modebar": BUTTONS,
        "shapes": [
            {
                "type": "line",
                "x0": 0,
                "x1": 1,
                "xref": "paper",
                "y0": 1,
                "y1": 1,
                "line": {"color": colors.hatch, "width": 1, "dash": "dot"},
            }
        ],
        "margin": {"l": 8, "r": 8, "t": 60, "b": 8},
    }
    return theme.build(traces, layout, dark=dark, height=300)


def relative(bias: Floats, stack: analysis.Stack, *, dark: bool = False) -> go.Figure:
    """T5's bias by distance, one line for each head (H, Q, K): T5 has it instead of position embeddings."""
    steps, values = distances(bias)
    color = theme.kind_color(stack, dark)
    traces: list[Part] = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": f"H{head}",
            "x": steps,
            "y": line,
            "line": {"color": color, "width": 1.5, "shape": "hvh"},
            "opacity": 0.75,
            "hovertemplate": _("H{head}, distance {distance}: {bias}", head=head, distance="%{x}", bias="%{y:.3f}")
            + "<extra></extra>",
        }
        for head, line in enumerate(values)
    ]
    layout = {
        "xaxis": {"title": _title(_("key's position minus query's"))},
        "modebar": BUTTONS,
        "showlegend": False,
        "yaxis": {"title": _title(_("added to the score"))},
    }
    return theme.build(traces, layout, dark=dark, height=360)
