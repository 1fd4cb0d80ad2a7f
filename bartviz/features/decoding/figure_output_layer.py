"""The output layer at one step: state and products as strips, their sums as bars of logits, then probabilities."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from bartviz.analysis.output_layer import OutputLayer
from bartviz.drawing import theme
from bartviz.drawing.arguments import expect
from bartviz.drawing.cells import BUTTONS, Part
from bartviz.drawing.strips import bars, caption, strip
from bartviz.language import _
from bartviz.language.percentages import percent

LINE = 34  # pixels of one token
STATE = 0.12  # share of the height for the state, above the tokens


def output_layer(one: OutputLayer, *, dark: bool = False) -> go.Figure:
    """One line for each token: the products of the state with its row, their sum (the logit), its probability.

    ``one`` is the result of ``experiments.output_layer.output_layer(model, record, step)``. The last line is all other
    tokens together; the step's own token is in the decoder's colour.

    >>> from bartviz.experiments.output_layer import output_layer
    >>> figure = bartviz.figures.output_layer(output_layer(model, record, 3))
    """
    expect(one, OutputLayer, "the result of bartviz.experiments.output_layer.output_layer(model, record, step)")
    colors, color = theme.palette(dark), theme.kind_color("decoder", dark)
    lines, width = len(one.labels), len(one.state)
    labels = [theme.escape(label) for label in one.labels]
    names = [*labels, _("{count:,} others", count=one.others)]
    fills = [color if i == one.chosen else theme.tint("decoder", dark) for i in range(lines)]
    shares = [*one.probabilities, one.rest / one.total]
    span = float(np.abs(one.logits[np.isfinite(one.logits)]).max(initial=0.0)) or 1.0
    low = 2.2 * span if (one.logits < 0).any() else 0.0
    traces = [
        _strip(one.state[None], _("state, dimension {dimension}: {number}", dimension="%{x}", number="%{z:.3f}"), dark),
        _strip(one.rows * one.state, _hover(), dark, names=np.array(labels, object)[:, None].repeat(width, 1)),
        bars(
            one.logits,
            colors=fills,
            xaxis="x2",
            hover=_sums(one, labels),
            name="logit",
            text=[f"{logit:.2f}" for logit in one.logits],
        ),
        bars(
            np.array(shares),
            colors=[*fills, colors.masked],
            xaxis="x3",
            hover=[f"{name}: {percent(float(share))}" for name, share in zip(names, shares, strict=True)],
            name="probability",
            text=[percent(float(share)) for share in shares],
        ),
    ]
    top = 1 - STATE - 0.1
    layout = {
        "xaxis": {"domain": [0, 0.36], "anchor": "y", "showticklabels": False, "showgrid": False, "ticks": ""},
        "xaxis2": _bare([0.42, 0.66], [-low, 2.2 * span]),
        "xaxis3": _bare([0.72, 1], [0, 2.2 * max(shares)]),
        "yaxis": {
            "domain": [0, top],
            "range": [lines + 0.5, -0.5],
            "tickvals": list(range(lines + 1)),
            "ticktext": names,
            "tickfont": {"family": theme.MONO, "size": 12},
            "showgrid": False,
        },
        "yaxis2": {
            "domain": [1 - STATE, 1],
            "tickvals": [0],
            "ticktext": [_("state")],
            "tickfont": {"size": 12},
            "ticks": "",
            "showgrid": False,
            "anchor": "x",
        },
        "annotations": [
            caption(_("state × row"), 0, top, dark),
            caption(_("logit"), 0.42, top, dark),
            caption(_("probability"), 0.72, top, dark),
        ],
        "bargap": 0,
        "showlegend": False,
        "modebar": BUTTONS,
        "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
    }
    return theme.build(traces, layout, dark=dark, height=70 + LINE * (lines + 2))


def _strip(values: np.ndarray, hover: str, dark: bool, names: np.ndarray | None = None) -> Part:
    """The state (1, D) above, or the products (k, D) in the tokens' lines."""
    return strip(
        values,
        color=theme.kind_color("decoder", dark),
        xaxis="x",
        yaxis="y2" if names is None else "y",
        hover=hover,
        name="state" if names is None else "products",
        customdata=names,
        dark=dark,
    )


def _hover() -> str:
    return _(
        "{token}, dimension {dimension}: state × row = {number}",
        token="%{customdata}",
        dimension="%{x}",
        number="%{z:.4f}",
    )


def _sums(one: OutputLayer, labels: list[str]) -> list[str]:
    return [
        _(
            "{token}: {product:.4f} {bias:+.4f} = {logit:.4f}; length {length:.2f}, cosine {cosine:.3f}",
            token=label,
            product=one.dots[i],
            bias=one.bias[i],
            logit=one.logits[i],
            length=one.lengths[i],
            cosine=one.cosines[i],
        )
        for i, label in enumerate(labels)
    ]


def _bare(domain: list[float], limits: list[float]) -> Part:
    return {"domain": domain, "range": limits, "showticklabels": False, "showgrid": False, "anchor": "y"}
