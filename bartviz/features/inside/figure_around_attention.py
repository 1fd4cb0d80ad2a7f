"""Around attention: the effect of scaling on scores and weights, GELU and ReLU, the position of layer norms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from bartviz.analysis.activations import CURVES, Curve, Doubles, gelu, relu
from bartviz.analysis.scaling import Scaling, Side
from bartviz.arrays import Floats
from bartviz.drawing import theme
from bartviz.drawing.cells import BUTTONS, Part
from bartviz.drawing.colors import KEY, QUERY, VALUE
from bartviz.language import _
from bartviz.record.attention import Kind

BINS = 41
_LEGEND: Part = {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "xanchor": "left"}
_TITLE: Part = {"size": 12}


def scaling(found: Scaling, kind: Kind, *, dark: bool = False) -> go.Figure:
    """Left the scores of all visible cells, right the entropy of the rows, each with and without the division."""
    sides = (found.model, found.other)
    colors = (theme.kind_color(kind, dark), theme.palette(dark).ink)
    scores = _edges([side.scores for side in sides])
    entropy = np.linspace(0, max(float(side.entropy.max(initial=1.0)) for side in sides) + 1e-6, 25)
    traces = []
    for side, color in zip(sides, colors, strict=True):
        near = {"share": "%{y:.1%}", "place": "%{x:.2f}"}
        hover = _("{share} of the scores near {place}", **near)
        traces.append(_steps(side.scores, scores, side, color, "", hover))
        hover = _("{share} of the rows near {place}", **near)
        traces.append(_steps(side.entropy, entropy, side, color, "2", hover) | {"showlegend": False})
    layout = {
        "xaxis": _titled(_("score")) | {"domain": [0, 0.46]},
        "yaxis": _titled(_("share of the cells")),
        "xaxis2": _titled(_("entropy of a row, in bits")) | {"domain": [0.56, 1]},
        "yaxis2": _titled(_("share of the rows")) | {"anchor": "x2"},
        "legend": _LEGEND,
        "modebar": BUTTONS,
        "margin": {"l": 8, "r": 8, "t": 34, "b": 8},
    }
    return theme.build(traces, layout, dark=dark, height=290)


def _edges(parts: Sequence[Floats]) -> Doubles:
    both = np.concatenate([part.ravel() for part in parts])
    edges: Doubles = np.linspace(float(both.min(initial=0.0)), float(both.max(initial=0.0)) + 1e-6, BINS)
    return edges


def _steps(values: Floats, edges: Doubles, side: Side, color: str, axis: str, hover: str) -> Part:
    """A histogram as an outline: the share of ``values`` in each bin; filled for the model's own scaling."""
    counts = np.histogram(values, edges)[0] / max(values.size, 1)
    middles = (edges[1:] + edges[:-1]) / 2
    return {
        "type": "scatter",
        "mode": "lines",
        "name": side.name,
        "x": middles,
        "y": counts,
        "xaxis": f"x{axis}",
        "yaxis": f"y{axis}",
        "line": {"shape": "hvh", "color": color, "width": 2, "dash": "solid" if side.own else "dot"},
        "fill": "tozeroy" if side.own else None,
        "hovertemplate": f"{hover}<extra>{theme.escape(side.name)}</extra>",
    }


def activation(name: str, *, dark: bool = False) -> go.Figure:
    """GELU and ReLU from -4 to 4, and the model's own function if it is another; the model's line is thick."""
    x = np.linspace(-4, 4, 161)
    curves: dict[str, Curve] = {"GELU": gelu, "ReLU": relu}
    title, function = CURVES.get(name, (name, None))
    if function is not None:
        curves[title] = function
    paints = {"GELU": VALUE, "ReLU": KEY}
    traces = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": _("{curve} · this model's", curve=_(label)) if label == title else _(label),
            "x": x,
            "y": curve(x),
            "hovertemplate": f"{_(label)}(%{{x:.2f}}) = %{{y:.4f}}<extra></extra>",
            "line": {
                "color": paints.get(label, QUERY),
                "width": 4 if label == title else 2,
                "dash": "dash" if label == "ReLU" else "solid",
            },
        }
        for label, curve in curves.items()
    ]
    layout = {
        "xaxis": _titled("x"),
        "yaxis": _titled(_("output of the function")),
        "legend": _LEGEND,
        "modebar": BUTTONS,
        "margin": {"l": 8, "r": 8, "t": 34, "b": 8},
    }
    return theme.build(traces, layout, dark=dark, height=290)


def norms(pre: bool, kind: Kind, *, dark: bool = False) -> go.Figure:
    """The two orders as two lines of boxes; the model's order is coloured."""
    lines = {
        "post-norm": ("x", _("attention"), "+ x", "LayerNorm", _("to the next block")),
        "pre-norm": ("x", "LayerNorm", _("attention"), "+ x", _("to the next block")),
    }
    colors, own = theme.palette(dark), "pre-norm" if pre else "post-norm"
    shapes: list[Part] = []
    notes: list[Part] = []
    for y, (name, boxes) in enumerate(lines.items()):
        mine = name == own
        ink = theme.kind_color(kind, dark) if mine else colors.faint
        title = f"<b>{name}</b>"
        notes.append(_word(_("{name} · this model", name=title) if mine else title, -0.45, y - 0.42, ink, "left"))
        for x, word in enumerate(boxes):
            shapes.append(
                {
                    "type": "rect",
                    "x0": x - 0.4,
                    "x1": x + 0.4,
                    "y0": y - 0.22,
                    "y1": y + 0.22,
                    "line": {"color": ink, "width": 2.5 if mine else 1},
                }
            )
            notes.append(_word(word, x, y, ink if mine else colors.ink))
            if x:
                notes.append(_word("→", x - 0.5, y, ink))
    layout = {
        "xaxis": {"range": [-0.5, 4.5], "visible": False, "fixedrange": True},
        "yaxis": {"range": [1.4, -0.6], "visible": False, "fixedrange": True},
        "shapes": shapes,
        "annotations": notes,
        "modebar": {"remove": ["toImage", *BUTTONS["remove"]]},
    }
    traces = [{"type": "scatter", "x": [0], "y": [0], "mode": "markers", "marker": {"opacity": 0}, "hoverinfo": "skip"}]
    return theme.build(traces, layout, dark=dark, height=190)


def _word(text: str, x: float, y: float, color: str, anchor: str = "center") -> Part:
    return {
        "text": text,
        "x": x,
        "y": y,
        "showarrow": False,
        "xanchor": anchor,
        "yanchor": "middle",
        "font": {"size": 13, "color": color},
    }


def growth(lengths: Floats, layer: int, kind: Kind, *, dark: bool = False) -> go.Figure:
    """The length of what each layer's attention block adds to one row, layer by layer, this page's layer filled."""
    place = np.arange(len(lengths))
    color = theme.kind_color(kind, dark)
    traces = [
        {
            "type": "bar",
            "x": place,
            "y": lengths,
            "hovertemplate": _("layer {layer}: length {length}", layer="%{x}", length="%{y:.3f}") + "<extra></extra>",
            "marker": {"color": [color if one == layer else theme.palette(dark).masked for one in place]},
        }
    ]
    layout = {
        "xaxis": _titled(_("layer")) | {"dtick": 1 if len(lengths) <= 16 else 4, "showgrid": False},
        "yaxis": _titled(_("length of what is added")) | {"rangemode": "tozero"},
        "modebar": BUTTONS,
        "bargap": 0.3,
    }
    return theme.build(traces, layout, dark=dark, height=190)


def _titled(text: str) -> Part:
    return {"title": {"text": text, "font": _TITLE, "standoff": 6}}
