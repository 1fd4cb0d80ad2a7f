"""The residual sum of one token in one layer: lengths as bars, and the cosine with the vector before the layer."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from bartviz.analysis import residual as analysis
from bartviz.analysis.residual import ADDS, Residual
from bartviz.drawing import theme
from bartviz.drawing.arguments import expect
from bartviz.drawing.cells import BUTTONS, Part
from bartviz.drawing.colors import VALUE
from bartviz.drawing.strips import bars, caption
from bartviz.language import _

LINE = 30  # pixels of one vector


def residual(one: Residual, *, dark: bool = False) -> go.Figure:
    """One line for each vector, from before the layer to after it: its length and its cosine with the first.

    ``one`` is the result of ``experiments.residual.residual(model, record, stack, layer, row)``. The token's own vector
    is grey; attention has the colour of its kind, the feed-forward part that of values.

    >>> from bartviz.experiments.residual import residual
    >>> figure = bartviz.figures.residual(residual(model, record, "decoder", 2, 3))
    """
    expect(one, Residual, "the result of bartviz.experiments.residual.residual(model, record, stack, layer, row)")
    frame, colors = analysis.table(one), theme.palette(dark)
    fills = {
        ADDS["self-attention"]: theme.kind_color(one.stack, dark),
        ADDS["cross-attention"]: theme.kind_color("cross", dark),
        ADDS["feed-forward"]: theme.letters(VALUE, dark),
    }
    shades = [fills.get(name, colors.hatch) for name in frame["vector"]]
    names = [_(name) for name in frame["vector"]]
    lengths, cosines = frame["length"].to_numpy(), frame["cosine with before"].to_numpy()
    hover = [
        _("{vector}: length {length:.3f}, cosine with before {cosine:.3f}", vector=name, length=size, cosine=same)
        for name, size, same in zip(names, lengths, cosines, strict=True)
    ]
    traces = [
        bars(lengths, colors=shades, xaxis="x", hover=hover, name="length", text=[f"{size:.2f}" for size in lengths]),
        bars(cosines, colors=shades, xaxis="x2", hover=hover, name="cosine", text=[f"{same:.2f}" for same in cosines]),
    ]
    low = -2.0 if (cosines < 0).any() else 0.0
    layout = {
        "xaxis": _bare([0, 0.45], [0, 1.6 * (float(np.max(lengths)) or 1.0)]),
        "xaxis2": _bare([0.55, 1], [low, 2.0]),
        "yaxis": {
            "range": [len(names) - 0.5, -0.5],
            "tickvals": list(range(len(names))),
            "ticktext": names,
            "tickfont": {"size": 12},
            "ticks": "",
            "showgrid": False,
        },
        "annotations": [caption(_("length"), 0, 1, dark), caption(_("cosine"), 0.55, 1, dark)],
        "bargap": 0,
        "showlegend": False,
        "modebar": BUTTONS,
        "margin": {"l": 8, "r": 8, "t": 26, "b": 8},
    }
    return theme.build(traces, layout, dark=dark, height=40 + LINE * len(names))


def _bare(domain: list[float], limits: list[float]) -> Part:
    return {"domain": domain, "range": limits, "showticklabels": False, "showgrid": False, "anchor": "y"}
