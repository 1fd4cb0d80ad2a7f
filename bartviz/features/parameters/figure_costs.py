"""Curves over the length of a text: operations per token, bytes of a pass, and decoding with and without a cache.

Every curve has its name at its end and its own dash, so that curves do not differ by colour alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from bartviz.analysis.costs import Costs
from bartviz.drawing import theme
from bartviz.drawing.colors import DARK, KEY, KIND, LETTERS, LIGHT, VALUE, Pair
from bartviz.language import _, mark

HEIGHT = 330
SHORTEST, LONGEST = 16, 8192
_NAMES = 0.075  # least distance between the names of two curves, as a share of the height
_TEXT_WIDTH = 7.2  # pixels a character

_VIOLET, _TEAL = KIND["cross"], KIND["encoder"]
_BLUE, _ORANGE = LETTERS[VALUE], LETTERS[KEY]
_GREY = (LIGHT.faint, DARK.faint)

# name, what it sums, colour, dash
_OPERATIONS: tuple[tuple[str, tuple[str, ...], Pair, str], ...] = (
    (mark("feed-forward"), ("feed-forward",), _BLUE, "solid"),
    (mark("projections"), ("projections",), _ORANGE, "dash"),
    (mark("scores and sums"), ("scores", "weighted sums"), _VIOLET, "solid"),
    (mark("output layer"), ("output",), _GREY, "dot"),
)
_MEMORY: tuple[tuple[str, str, Pair, str], ...] = (
    (mark("weights"), "weights", _GREY, "dot"),
    (mark("activations"), "activations", _BLUE, "dash"),
    (mark("attention, all heads"), "attention", _VIOLET, "solid"),
    (mark("queries and keys"), "captured", _TEAL, "solid"),
    (mark("decoding cache"), "cache", _ORANGE, "dashdot"),
)


@dataclass(frozen=True, slots=True)
class _Curve:
    """One line of a figure; ``hover`` is the hover text of its points."""

    name: str
    y: NDArray[np.float64]
    hover: Sequence[str]
    colors: Pair
    dash: str


def lengths(around: int) -> list[int]:
    """The source lengths a curve is drawn at: 16 to 8,192, even on a logarithmic scale, ``around`` included."""
    steps = np.geomspace(SHORTEST, LONGEST, 37).round().astype(int)
    return sorted({*map(int, steps), min(max(around, SHORTEST), LONGEST)})


def operations(costs: Costs, length: int, *, dark: bool = False) -> go.Figure:
    """Multiply-adds for each source token against the length: flat parts, and the one that grows with it.

    A ring marks the length from which scores and weighted sums cost as much as the feed-forward layers, a line the
    chosen ``length``; grey is beyond the model's positions. An encoder-decoder writes as many tokens as it reads.
    """
    table = costs.curve(lengths(length))
    x = table["length"].to_numpy()
    found = {
        name: table[[one for one in columns if one in table]].sum(axis=1).to_numpy() / x / 1e6
        for name, columns, *_look in _OPERATIONS
    }
    feed_forward, scores = found["feed-forward"], found["scores and sums"]
    top = 2.4 * max(line.max() for name, line in found.items() if name != "scores and sums")
    curves = [
        _Curve(_(name), found[name], [_("{count:,.2f} million", count=value) for value in found[name]], colors, dash)
        for name, _columns, colors, dash in _OPERATIONS
        if found[name].any()
    ]
    figure = _drawn(curves, x, (0.0, top), dark=dark)
    _by_length(figure, costs, length, dark)
    crossing = feed_forward[0] / scores[0] * x[0]  # one is flat, the other a straight line through 0
    if SHORTEST <= crossing <= LONGEST:
        figure.add_scatter(
            x=[crossing],
            y=[feed_forward[0]],
            mode="markers+text",
            text=[_("equal at {length:,.0f}", length=crossing)],
            textposition="top left",
            textfont={"size": 13},
            showlegend=False,
            hoverinfo="skip",
            marker={"symbol": "circle-open", "size": 12, "line": {"width": 2}, "color": theme.palette(dark).ink},
        )
    return figure.update_yaxes(title={"text": _("million multiply-adds per source token"), "font": {"size": 12}})


def memory(costs: Costs, length: int, *, dtype: str = "float32", dark: bool = False) -> go.Figure:
    """Bytes of one pass against the length, both on logarithmic scales; the marks are as in ``operations``.

    Attention weights, and the queries and keys of a record, are always float32; ``dtype`` is that of the rest.
    """
    x = np.array(lengths(length))
    found = [costs.memory(int(point), dtype=dtype) for point in x]
    curves = []
    for name, column, colors, dash in _MEMORY:
        values = np.array([getattr(one, column) for one in found], dtype=float)
        if values.any():
            curves.append(_Curve(_(name), values, [bytes_text(value) for value in values], colors, dash))
    figure = _drawn(curves, x, _decades(curves), log=True, dark=dark)
    _by_length(figure, costs, length, dark)
    ticks = [10.0**power for power in range(3, 16)]
    figure.update_yaxes(tickvals=ticks, ticktext=[bytes_text(tick) for tick in ticks])
    return figure.update_yaxes(title={"text": _("bytes, one text"), "font": {"size": 12}})


def decoding(costs: Costs, source: int, steps: int, *, dark: bool = False) -> go.Figure:
    """Multiply-adds of decoding steps 1 ... ``steps``, with and without a cache; both scales logarithmic."""
    table = costs.generation(source, steps)
    x = table["position"].to_numpy()
    curves: list[_Curve] = []
    rows = ((_("without a cache"), "uncached", _VIOLET, "dash"), (_("with a cache"), "cached", _TEAL, "solid"))
    for name, column, colors, dash in rows:
        counts = table[column].to_numpy()
        hover = [_("{count:,.1f} million", count=count / 1e6) for count in counts]
        curves.append(_Curve(name, counts / 1e6, hover, colors, dash))
    figure = _drawn(curves, x, _decades(curves), log=True, dark=dark)
    ticks = [2**power for power in range(int(np.log2(steps)) + 1)] if steps > 1 else [1]
    figure.update_xaxes(tickvals=ticks, ticktext=[f"{tick:,}" for tick in ticks], range=[0, np.log10(max(steps, 2))])
    figure.update_xaxes(title={"text": _("step t: the token that is read"), "font": {"size": 12}})
    if costs.sizes.encoder is not None and steps > 1:
        figure.add_annotation(
            x=0,
            y=np.log10(curves[1].y[0]),
            xanchor="left",
            yanchor="top",
            yshift=-4,
            xshift=14,
            showarrow=False,
            text=_("step 1 makes the source's keys and values"),
            font={"size": 12, "color": theme.palette(dark).faint},
        )
    values = [10.0**power for power in range(-3, 9)]
    figure.update_yaxes(tickvals=values, ticktext=[f"{value:,g}" for value in values])
    return figure.update_yaxes(title={"text": _("million multiply-adds"), "font": {"size": 12}})


def bytes_text(count: float) -> str:
    """Bytes as a reader sees them, in steps of a thousand: 12.6 MB."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 999.5:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:,.3g} TB" if count < 999.5 else f"{count:,.0f} TB"


def _drawn(
    curves: Sequence[_Curve], x: NDArray[np.int64], span: tuple[float, float], *, log: bool = False, dark: bool
) -> go.Figure:
    """The curves over a logarithmic x, their names on the right; ``span`` is that of y, exponents where ``log``."""
    figure = theme.Figure()
    for curve in curves:
        figure.add_scatter(
            x=x,
            y=curve.y,
            mode="lines",
            name=curve.name,
            showlegend=False,
            customdata=curve.hover,
            line={"color": curve.colors[dark], "dash": curve.dash, "width": 2.5},
            hovertemplate=f"{curve.name}: %{{customdata}}<extra></extra>",
        )
    theme.layout(figure, dark=dark, height=HEIGHT)
    for curve, (place, rises) in zip(curves, _places(curves, span, log), strict=True):
        figure.add_annotation(
            x=1,
            xref="paper",
            xshift=6,
            y=place,
            yref="paper",
            yanchor="middle",
            xanchor="left",
            showarrow=False,
            text=f"{curve.name} ↑" if rises else curve.name,
            font={"color": curve.colors[dark], "size": 13},
        )
    room = max(map(theme.width, (curve.name for curve in curves))) * _TEXT_WIDTH + 14
    figure.update_layout(margin={"l": 8, "r": room, "t": 20, "b": 8}, hovermode="x unified")
    figure.update_xaxes(type="log")
    return figure.update_yaxes(type="log" if log else "linear", range=span)


def _places(curves: Sequence[_Curve], span: tuple[float, float], log: bool) -> Iterator[tuple[float, bool]]:
    """The position of each curve's name, as a share of the height, without overlaps; and whether the curve left the
    figure."""
    ends = [float(np.log10(curve.y[-1]) if log else curve.y[-1]) for curve in curves]
    shares = [(end - span[0]) / (span[1] - span[0]) for end in ends]
    placed: dict[int, float] = {}
    lowest = 0.0
    for index in sorted(range(len(curves)), key=lambda index: shares[index]):
        placed[index] = max(min(shares[index], 1.0), lowest)
        lowest = placed[index] + _NAMES
    over = max(0.0, max(placed.values()) - 1.0)
    return ((placed[index] - over, shares[index] > 1.0) for index in range(len(curves)))


def _decades(curves: Sequence[_Curve]) -> tuple[float, float]:
    """Exponents of ten around all values that are not 0."""
    values = np.concatenate([curve.y[curve.y > 0] for curve in curves])
    return float(np.log10(values.min()) - 0.1), float(np.log10(values.max()) + 0.1)


def _by_length(figure: go.Figure, costs: Costs, length: int, dark: bool) -> None:
    """The axis of source lengths, the chosen one, and where the model's positions end."""
    colors = theme.palette(dark)
    ticks = [16, 64, 256, 1024, 4096]
    figure.update_xaxes(
        tickvals=ticks,
        ticktext=[f"{tick:,}" for tick in ticks],
        range=np.log10([SHORTEST, LONGEST]).tolist(),
        title={"text": _("source tokens n"), "font": {"size": 12}},
        hoverformat=",d",
    )
    limit = costs.sizes.positions
    if limit is not None and limit < LONGEST:
        figure.add_vrect(x0=limit, x1=LONGEST, fillcolor=colors.masked, opacity=0.45, line_width=0, layer="below")
        figure.add_annotation(
            x=np.log10(limit),
            y=0,
            yref="paper",
            xanchor="left",
            yanchor="bottom",
            showarrow=False,
            text=_("no positions<br>after {limit:,}", limit=limit),
            align="left",
            font={"size": 12, "color": colors.faint},
        )
    figure.add_vline(x=min(max(length, SHORTEST), LONGEST), line={"color": colors.ink, "width": 1.5})
