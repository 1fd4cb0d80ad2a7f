"""Small grids side by side: layers down, and heads or positions across; each with its own labels and colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import plotly.graph_objects as go

from bartviz.attention import Bools, Floats
from bartviz.figures import axes, theme
from bartviz.figures.cells import BUTTONS, Part, unseen

NUMBERS = 64  # cells of a grid of heads up to which each shows its number
ZEROS = 1500  # cells of a grid of positions up to which each 0 is written
BAR = 0.075  # of the width, for a colour bar
GAP = 0.03
CELL, LEAST, MOST = 30, 90, 380  # pixels: a row at most, the rows of a grid at least and at most


@dataclass(frozen=True, eq=False)
class Panel:
    """One grid (rows, columns); NaN is a gap. ``hover`` is a plotly template of %{x}, %{y} and %{customdata}.

    ``shown`` (rows, columns) are the numbers that the pointer names where they are not those of the colours.
    ``zeros``: cells where a small 0 stands. ``marked``: a column that is framed; ``chosen``: cells (row, column) that
    are. ``clicks``: whether each cell reports a click, as customdata (row, column).
    """

    title: str
    values: Floats
    row_labels: Sequence[str]
    column_labels: Sequence[str]
    scale: theme.Scale
    low: float
    high: float
    hover: str
    ticks: tuple[Sequence[float], Sequence[str]] | None = None
    unit: str = ""
    shown: Floats | None = None
    special: Bools | None = None
    zeros: Bools | None = None
    marked: int | None = None
    chosen: Sequence[tuple[int, int]] = field(default=())
    clicks: bool = False
    bar: bool = True


def panels(given: Sequence[Panel], *, dark: bool = False, height: int | None = None) -> go.Figure:
    """The grids from left to right, each as wide as its columns ask for, the first row on top."""
    traces: list[Part] = []
    layout: Part = {"modebar": BUTTONS, "shapes": [], "annotations": []}
    for number, (panel, (start, stop)) in enumerate(zip(given, _domains(given), strict=True), start=1):
        name = "" if number == 1 else str(number)
        x, y = f"x{name}", f"y{name}"
        traces += _traces(panel, x, y, stop, dark)
        layout |= _axes(panel, name, (start, stop), dark)
        layout["shapes"] += _frames(panel, x, y, dark)
        layout["annotations"].append(_title(panel, start, dark))
    pixels = height or _height(given)
    return theme.build(traces, layout | {"margin": {"l": 8, "r": 8, "t": 34, "b": 8}}, dark=dark, height=pixels)


def _domains(given: Sequence[Panel]) -> list[tuple[float, float]]:
    """Where each grid stands, 0..1 from left to right; a colour bar needs room to the right of its grid."""
    wide = np.array([max(panel.values.shape[1], 4) for panel in given], float)
    bars = np.array([BAR if panel.bar else 0.0 for panel in given])
    free = 1 - bars.sum() - GAP * (len(given) - 1)
    widths = wide / wide.sum() * free
    starts = np.cumsum([0.0, *(widths + bars + GAP)[:-1]])
    return [(float(a), float(min(a + w, 1.0))) for a, w in zip(starts, widths, strict=True)]


def _traces(panel: Panel, x: str, y: str, stop: float, dark: bool) -> list[Part]:
    rows, columns = panel.values.shape
    numbers = panel.values if panel.shown is None else panel.shown
    heat: Part = {
        "type": "heatmap", "name": panel.title, "z": panel.values, "xaxis": x, "yaxis": y, "zmin": panel.low,
        "zmax": panel.high, "colorscale": panel.scale, "customdata": numbers, "hovertemplate": panel.hover,
        "hoverongaps": False, "xgap": 1, "ygap": 1, "showscale": panel.bar,
    }  # fmt: skip
    if panel.bar:
        heat["colorbar"] = _bar(panel, stop, dark)
    traces = [heat]
    if panel.zeros is not None and panel.zeros.any() and panel.zeros.size <= ZEROS:
        traces.append(_zeros(panel.zeros, x, y, dark))
    if panel.clicks:
        down, across = (index.ravel() for index in np.indices((rows, columns)))
        place = np.column_stack([down, across, numbers.ravel()]).astype(np.float32)
        said = panel.hover.replace("%{customdata", "%{customdata[2]")
        if panel.values.size <= NUMBERS and np.isfinite(numbers).all():
            traces.append(_numbers(numbers, x, y, panel, dark))
        traces.append(
            unseen(across, down, name="cells", size=18, xaxis=x, yaxis=y, customdata=place, hovertemplate=said)
        )
    return traces


def _numbers(numbers: Floats, x: str, y: str, panel: Panel, dark: bool) -> Part:
    """Numbers of the cells above a tenth of the largest, in ink or in paper, whichever is read better."""
    down, across = (index.ravel() for index in np.indices(numbers.shape))
    colors = theme.palette(dark)
    reach = max(abs(panel.low), abs(panel.high)) or 1.0
    strong = np.abs(panel.values.ravel()) / reach > 0.55
    whole = bool(np.all(numbers == np.round(numbers)))
    told = np.abs(panel.values.ravel()) >= reach / 10
    texts = [_short(float(value), whole) if show else "" for value, show in zip(numbers.ravel(), told, strict=True)]
    return {
        "type": "scatter", "mode": "text", "name": "numbers", "x": across, "y": down, "xaxis": x, "yaxis": y,
        "text": texts, "hoverinfo": "skip", "showlegend": False,
        "textfont": {
            "family": theme.MONO, "size": 10, "color": [colors.background if s else colors.ink for s in strong],
        },
    }  # fmt: skip


def _short(value: float, whole: bool) -> str:
    """A number for a small cell: two digits after the point, nothing before it where that is 0."""
    if whole:
        return f"{value:.0f}"
    return (
        f"{value:.2f}".replace("-", "−").replace("0.", ".", 1) if abs(value) < 1 else f"{value:.1f}".replace("-", "−")
    )


def _zeros(zeros: Bools, x: str, y: str, dark: bool) -> Part:
    down, across = np.nonzero(zeros)
    return {
        "type": "scatter", "mode": "text", "name": "exactly 0", "x": across, "y": down, "xaxis": x, "yaxis": y,
        "text": ["0"] * len(down), "hoverinfo": "skip", "showlegend": False,
        "textfont": {"family": theme.MONO, "size": 11, "color": theme.palette(dark).faint},
    }  # fmt: skip


def _bar(panel: Panel, stop: float, dark: bool) -> Part:
    small = {"size": 11, "color": theme.palette(dark).faint}
    ticks: Part = {"nticks": 4} if panel.ticks is None else {"tickvals": panel.ticks[0], "ticktext": panel.ticks[1]}
    return ticks | {
        "x": stop + 0.006, "xanchor": "left", "y": 1, "yanchor": "top", "xpad": 0, "ypad": 0, "thickness": 8, "len": 1,
        "outlinewidth": 0, "tickfont": small, "title": {"text": panel.unit, "side": "right", "font": small},
    }  # fmt: skip


def _axes(panel: Panel, name: str, domain: tuple[float, float], dark: bool) -> Part:
    rows, columns = panel.values.shape
    faint = {"family": theme.MONO, "size": 11, "color": theme.palette(dark).faint}
    width = (domain[1] - domain[0]) * 1100
    across = axes.shown(panel.column_labels, panel.special, width, "", dark) | {"title": {"text": ""}}
    step = axes.every(rows, 16)
    return {
        f"xaxis{name}": across | {
            "domain": list(domain), "anchor": f"y{name}", "range": [-0.5, columns - 0.5], "showgrid": False,
            "tickangle": -90 if max(map(len, panel.column_labels)) > 3 else 0, "ticks": "",
        },
        f"yaxis{name}": {
            "anchor": f"x{name}", "range": [rows - 0.5, -0.5], "showgrid": False, "ticks": "", "tickfont": faint,
            "tickvals": np.arange(0, rows, step), "ticktext": [theme.escape(t) for t in panel.row_labels[::step]],
        },
    }  # fmt: skip


def _frames(panel: Panel, x: str, y: str, dark: bool) -> list[Part]:
    """Strong frames round the chosen cells and the marked column."""
    ink, rows = theme.palette(dark).ink, panel.values.shape[0]
    boxes = [(column - 0.5, column + 0.5, row - 0.5, row + 0.5) for row, column in panel.chosen]
    if panel.marked is not None:
        boxes.append((panel.marked - 0.5, panel.marked + 0.5, -0.5, rows - 0.5))
    line = {"color": ink, "width": 2}
    return [
        {"type": "rect", "xref": x, "yref": y, "x0": left, "x1": right, "y0": top, "y1": bottom, "line": line}
        for left, right, top, bottom in boxes
    ]


def _title(panel: Panel, start: float, dark: bool) -> Part:
    return {
        "text": theme.escape(panel.title), "x": start, "y": 1, "xref": "paper", "yref": "paper", "xanchor": "left",
        "yanchor": "bottom", "yshift": 4, "showarrow": False, "align": "left",
        "font": {"size": 14, "color": theme.palette(dark).ink},
    }  # fmt: skip


def _height(given: Sequence[Panel]) -> int:
    rows = max(panel.values.shape[0] for panel in given)
    labels = max(len(axes.short(label)) for panel in given for label in panel.column_labels)
    return int(min(max(rows * CELL, LEAST), MOST) + 44 + (labels * 7 if labels > 3 else 16))
