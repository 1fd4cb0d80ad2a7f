"""One key's score dimension by dimension, and one head's share in the output of its layer."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from bartviz.analysis import sentence_words
from bartviz.analysis.inside import Inside
from bartviz.drawing import theme
from bartviz.drawing.cells import BUTTONS, Part
from bartviz.drawing.colors import VALUE
from bartviz.drawing.strips import bars, signed, strip
from bartviz.language import _
from bartviz.language.percentages import percent

MANY = 24  # heads above which the bars of shares are thin and without numbers
NAMED = 20  # pixels above a strip for its name


def products(one: Inside, key: int, *, by_size: bool = False, dark: bool = False) -> go.Figure:
    """The d products q_m × k_jm as steps, each from the sum of those before it to the sum with it; the last ends at
    q · k. In the order of the dimensions, or the largest first."""
    numbers = one.products(key).astype(float)  # (d,)
    order = np.argsort(-numbers, kind="stable") if by_size else np.arange(one.width)
    sums = np.cumsum(numbers[order])  # (d,)
    hover = [
        _(
            "dimension {dimension}: {q:.4f} × {k:.4f} = {product:.3f}, sum so far {total:.3f}",
            dimension=m,
            q=one.q[m],
            k=one.k[key, m],
            product=numbers[m],
            total=total,
        )
        for m, total in zip(order, sums, strict=True)
    ]
    colors, total = theme.palette(dark), float(one.dots[key])
    traces: list[Part] = [
        {
            "type": "bar",
            "name": "q × k",
            "x": np.arange(one.width),
            "y": numbers[order],
            "base": sums - numbers[order],
            "hovertext": hover,
            "hoverinfo": "text",
            "marker": {"color": signed(numbers[order], theme.kind_color(one.kind, dark), dark)},
        },
        {
            "type": "scatter",
            "mode": "lines",
            "name": "q · k",
            "x": [-0.5, one.width - 0.5],
            "y": [total, total],
            "line": {"color": colors.ink, "width": 1, "dash": "dot"},
            "hoverinfo": "skip",
        },
    ]
    note = {
        "x": 0,
        "xref": "x domain",
        "y": total,
        "text": f"q · k = {total:.3f}",
        "showarrow": False,
        "xanchor": "left",
        "yanchor": "bottom" if total >= 0 else "top",
        "font": {"family": theme.MONO, "size": 13, "color": colors.ink},
    }
    title = _("dimension, the largest product first") if by_size else _("dimension")
    layout = {
        "xaxis": _titled(title, dark) | {"showgrid": False, "showticklabels": not by_size, "zeroline": False},
        "yaxis": _titled(_("sum of q × k so far"), dark) | {"zeroline": True, "zerolinecolor": colors.hatch},
        "annotations": [note],
        "bargap": 0.12,
        "modebar": BUTTONS,
        "showlegend": False,
        "margin": {"l": 8, "r": 8, "t": 26, "b": 8},
    }
    return theme.build(traces, layout, dark=dark, height=250)


def share(one: Inside, *, dark: bool = False) -> go.Figure:
    """The heads' shares in the lengths of what they add to this row, and the vectors that this head and the whole block
    add.

    Needs values. The block's output includes the projection's bias.
    """
    assert one.shares is not None
    assert one.added is not None
    assert one.block is not None
    whole = _("all heads + bias") if one.projection_bias else _("all heads")
    heads = len(one.shares)
    color, colors = theme.kind_color(one.kind, dark), theme.palette(dark)
    hover = [
        _("{head}: {share:.1%} of what the heads add", head=sentence_words.head(one.kind, one.layer, head), share=part)
        for head, part in enumerate(one.shares)
    ]
    many = heads > MANY
    named = range(0, heads, 4 if many else 1)
    texts = None if many else [percent(part) for part in one.shares]
    fills = [color if head == one.head else colors.hatch for head in range(heads)]
    both = np.stack([one.added, one.block])  # (2, D)
    names = [_("this head, H{head}", head=one.head), whole]
    traces = [
        bars(one.shares.astype(float), colors=fills, xaxis="x", hover=hover, name="share", text=texts),
        strip(
            both,
            color=VALUE,
            xaxis="x2",
            yaxis="y2",
            name="output",
            dark=dark,
            hover=_(
                "{output}, dimension {dimension} of the layer: {number}",
                output="%{customdata}",
                dimension="%{x}",
                number="%{z:.3f}",
            ),
            customdata=np.array(names, object)[:, None].repeat(both.shape[1], 1),
        )
        | {"ygap": 2 * NAMED},
    ]
    layout = {
        "xaxis": {
            "domain": [0, 0.3],
            "range": [0, float(one.shares.max()) * 1.3],
            "showticklabels": False,
            "showgrid": False,
        },
        "yaxis": {
            "range": [heads - 0.5, -0.5],
            "tickvals": list(named),
            "showgrid": False,
            "ticktext": [f"H{head}" for head in named],
            "tickfont": {"family": theme.MONO, "size": 12},
        },
        "xaxis2": _titled(_("dimension of the model's width, {width:,}", width=len(one.block)), dark)
        | {"domain": [0.4, 1], "showgrid": False},
        "yaxis2": {"anchor": "x2", "range": [1.5, -0.5], "showticklabels": False, "showgrid": False, "ticks": ""},
        "annotations": [
            {
                "text": name,
                "x": 0,
                "xref": "x2 domain",
                "xanchor": "left",
                "y": place - 0.5,
                "yref": "y2",
                "yanchor": "top",
                "showarrow": False,
                "font": {"size": 13, "color": colors.ink},
            }
            for place, name in enumerate(names)
        ],
        "showlegend": False,
        "modebar": BUTTONS,
        "bargap": 0,
    }
    return theme.build(traces, layout, dark=dark, height=max(190, 60 + (8 if many else 19) * heads))


def _titled(text: str, dark: bool) -> Part:
    return {"title": {"text": text, "font": {"size": 12, "color": theme.palette(dark).faint}, "standoff": 6}}
