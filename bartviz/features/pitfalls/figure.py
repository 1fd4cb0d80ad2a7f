"""Weights and contributions, and the sharpness of heads and the effect of silencing them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from bartviz.analysis import sentence_words
from bartviz.analysis.word_colors import Numbers
from bartviz.drawing import axes, theme
from bartviz.drawing.cells import Part
from bartviz.features.pitfalls.numbers import Gap
from bartviz.features.pitfalls.numbers_experiment_findings import LITTLE, SHARP, Quiet
from bartviz.language import _
from bartviz.language.percentages import of_before, percent
from bartviz.record.attention import Kind

ROOM = 5  # keys whose numbers stand beside each other on a phone
MOST_TICKS = 7
BARS = 12  # keys that are drawn: those with most weight or contribution


def weights_and_contributions(
    found: Gap, labels: Sequence[str], *, colors: Numbers = (), dark: bool = False
) -> go.Figure:
    """Two bars for each key of one row: its weight, and its share of the contributions. ``labels`` (K,) of all keys,
    ``colors`` (K,) the numbers of their words, whose colours stand above the labels (``analysis.word_colors``).

    The numbers stand on all bars where there is room, else on those of the keys that the row looks at most and takes
    most from. At most 12 keys, those with the largest bars, in the order of the text; none that the mask closes.
    """
    bars = np.maximum(found.weights, found.shares)
    largest = np.argsort(-bars, kind="stable")[:BARS]
    places = np.sort(largest[bars[largest] > 0])
    kind: Kind = found.head.kind
    shades = {"weights": theme.kind_color(kind, dark), "shares": theme.palette(dark).faint}
    names = {
        "weights": _("how much the head looks there"),
        "shares": _("how much of what it passes on comes from there"),
    }
    said = [len(places) <= ROOM or at in (found.looked, found.brought) for at in places]
    traces: list[Part] = [
        {
            "type": "bar",
            "name": names[what],
            "x": np.arange(len(places)),
            "y": getattr(found, what)[places],
            "text": [
                percent(float(value)) if says else ""
                for value, says in zip(getattr(found, what)[places], said, strict=True)
            ],
            "textposition": "outside",
            "textangle": 0,
            "textfont": {"size": 14 if len(places) < ROOM else 11},  # beside each other on a phone, and apart
            "cliponaxis": False,
            "marker": {"color": color},
            "hovertemplate": "%{y:.1%}<extra>" + theme.escape(names[what]) + "</extra>",
        }
        for what, color in shades.items()
    ]
    ticks = {
        "tickmode": "array",
        "tickvals": list(range(len(places))),
        "ticktext": [theme.escape(axes.short(labels[at])) for at in places],
        "tickfont": {"family": theme.MONO},
        "ticks": "outside",
        "ticklen": axes.STANDOFF,
        "tickcolor": "rgba(0,0,0,0)",
        "showgrid": False,
    }
    layout: Part = {
        "xaxis": ticks,
        "yaxis": {"range": [0, 1.08], "tickformat": ".0%"},
        "barmode": "group",
        "legend": {"orientation": "h", "y": 1.02, "x": 0, "yanchor": "bottom"},
        "shapes": axes.bars_below(tuple(colors[at] for at in places) if colors else (), dark),
    }
    return theme.build(traces, layout, dark=dark, height=300)


def sharp_and_silent(found: Quiet, *, plain: bool = False, name: str = "", dark: bool = False) -> go.Figure:
    """Every head as a point: x is its sharpness, y the effect of silencing it; the quietest one has a ring and its
    ``name``. ``plain``: shares and probabilities in per cent, in place of weights and nats."""
    traces: list[Part] = []
    kinds: list[Kind] = list(dict.fromkeys(head.kind for head in found.heads))
    said = {"encoder": _("encoder"), "decoder": _("decoder"), "cross": _("cross")}
    symbols = {"encoder": "circle", "decoder": "square", "cross": "diamond"}
    for kind in kinds:
        places = np.array([at for at, head in enumerate(found.heads) if head.kind == kind])
        names = [sentence_words.head(kind, one.layer, one.head) for one in found.heads if one.kind == kind]
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": said[kind],
                "x": found.peak[places],
                "y": found.change[places],
                "text": names,
                "marker": {"color": theme.kind_color(kind, dark), "symbol": symbols[kind], "size": 9, "opacity": 0.8},
                "customdata": [of_before(float(change)) for change in found.change[places]],
                "hovertemplate": "<b>%{text}</b>: "
                + ("%{x:.0%}, %{customdata}" if plain else "%{x:.2f}, %{y:+.3f}")
                + "<extra></extra>",
            }
        )
    if found.quietest is not None:
        ring = {"color": theme.palette(dark).ink, "symbol": "circle-open", "size": 18, "line": {"width": 2}}
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "x": [found.peak[found.quietest]],
                "y": [found.change[found.quietest]],
                "marker": ring,
                "showlegend": False,
                "hoverinfo": "skip",
            }
        )
    layout = _axes(found, plain, dark)
    if found.quietest is not None:
        layout["annotations"] = [_name(found, name or found.heads[found.quietest].short, found.quietest, dark)]
    return theme.build(traces, layout, dark=dark, height=360)


def _name(found: Quiet, name: str, place: int, dark: bool) -> Part:
    """The name of a head, over the other points, on the side of the picture where fewer of them are."""
    colors, above = theme.palette(dark), found.change > found.change[place]
    return {
        "text": theme.escape(name),
        "x": found.peak[place],
        "y": found.change[place],
        "xanchor": "right",
        "ax": -12,
        "ay": 48 if above.sum() > len(above) / 2 else -48,
        "standoff": 9,
        "arrowcolor": colors.ink,
        "arrowwidth": 1,
        "arrowhead": 0,
        "bgcolor": colors.background,
        "font": {"size": 13, "color": colors.ink},
    }


def _axes(found: Quiet, plain: bool, dark: bool) -> Part:
    """The axes, with the band of small effects and the limit of sharp heads."""
    band = {
        "type": "rect",
        "xref": "x",
        "yref": "y",
        "x0": SHARP,
        "x1": 1.02,
        "y0": -LITTLE,
        "y1": LITTLE,
        "fillcolor": theme.palette(dark).grid,
        "line": {"width": 0},
        "layer": "below",
    }
    low, high = min(float(found.change.min()), -LITTLE), max(float(found.change.max()), LITTLE)
    room = 0.12 * (high - low)
    x: Part = {"title": {"text": _("mean largest weight of a row")}}
    y: Part = {"title": {"text": _("change of log p when silenced, nats")}}
    if plain:
        x = {"title": {"text": _("weight on a row's strongest token, on average")}, "tickformat": ".0%"}
        ticks = _ticks(low, high)
        y = {
            "title": {"text": _("probability without the head")},
            "tickvals": ticks,
            "ticktext": [of_before(tick) for tick in ticks],
        }
    return {
        "xaxis": x | {"range": [0, 1.02]},
        "yaxis": y | {"range": [low - room, high + room]},
        "shapes": [band],
        "legend": {"orientation": "h", "y": 1.12, "x": 0},
    }


def _ticks(low: float, high: float) -> list[float]:
    """Changes of log p at round percentages of the probability, 100% one of them; where these are too many, at even
    steps of log p."""
    for step in (0.05, 0.1, 0.2, 0.25, 0.5):
        first, last = math.exp(low), math.exp(high)
        shares = np.arange(math.ceil(first / step), math.floor(last / step) + 1) * step
        shares = shares[shares > 0]
        if len(shares) <= MOST_TICKS:
            return [math.log(share) for share in shares]
    return [low, low / 2, 0.0, high / 2, high]
