"""Small grids side by side: layers down, and heads or positions across; each with its own labels and colours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from bartviz.arrays import Bools, Floats
from bartviz.drawing import axes, theme
from bartviz.drawing.cells import BUTTONS, Part, unseen

NUMBERS = 64  # cells of a grid of heads up to which each shows its number
ZEROS = 96  # positions of a grid up to which each 0 is written; beyond, what is 0 is grey
SIDE = 96  # positions in all up to which a page has grids side by side
WHOLE = 32  # rows and columns of a grid up to which a drag does not zoom it
BAR = 62  # pixels below the labels for a colour bar with its title
GAP = 0.05  # of the width, between two grids, at least
LETTER = 0.0095  # of the width, for each letter of the right grid's row labels
TITLE = 34  # pixels above a grid
CELL, LEAST, MOST = 30, 90, 380  # pixels: a row at most, the rows of a grid at least and at most


@dataclass(frozen=True, eq=False)
class Panel:
    """One grid (rows, columns); NaN is a gap. ``hover`` is a plotly template of %{x}, %{y} and %{customdata}.

    ``shown`` (rows, columns) are the numbers that the pointer names where they are not those of the colours.
    ``zeros``: cells where a small 0 stands. ``marked``: a column that is framed; ``chosen``: cells (row, column) that
    are. ``clicks``: whether each cell reports a click, as customdata (row, column). ``say``: the text of a cell's
    colour, where that is not its number.
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
    say: Callable[[float], str] | None = None


def panels(given: Sequence[Panel], *, dark: bool = False) -> go.Figure:
    """The grids from left to right, each as wide as its columns need, the first row on top.

    Below each is its colour bar; grids with the same colours share the bar of the first.
    """
    traces: list[Part] = []
    layout: Part = {"modebar": BUTTONS, "shapes": [], "annotations": []}
    known, pixels, below = list[Part](), _height(given), _below(given)
    for number, (panel, (start, stop)) in enumerate(zip(given, _domains(given), strict=True), start=1):
        name = "" if number == 1 else str(number)
        x, y = f"x{name}", f"y{name}"
        meaning = {"scale": panel.scale, "ends": (panel.low, panel.high), "unit": panel.unit}
        bar = _bar(panel, (start, stop), dark) if panel.bar and meaning not in known else None
        known.append(meaning)
        traces += _traces(panel, x, y, bar, dark)
        layout |= _axes(panel, name, (start, stop), dark)
        layout["shapes"] += _frames(panel, x, y, dark)
        layout["annotations"].append(_title(panel, start, dark))
    if any(panel.zeros is not None and not written(panel.zeros) for panel in given):
        layout["plot_bgcolor"] = theme.palette(dark).masked  # seen where a gap is
    margin = {"l": 8, "r": 8, "t": TITLE, "b": below}
    return theme.build(traces, layout | {"margin": margin}, dark=dark, height=pixels)


def written(zeros: NDArray[Any]) -> bool:
    """Whether each 0 of a grid (rows, columns) is written, because it has enough space."""
    return bool(zeros.shape[1] <= ZEROS)


def _domains(given: Sequence[Panel]) -> list[tuple[float, float]]:
    """The horizontal extent of each grid, 0..1 from left to right."""
    wide = np.array([max(panel.values.shape[1], 4) for panel in given], float)
    longest = [max(theme.width(label) for label in panel.row_labels) for panel in given[1:]]
    gaps = np.array([max(GAP, letters * LETTER) for letters in longest])
    widths = wide / wide.sum() * (1 - gaps.sum())
    starts = np.cumsum([0.0, *(widths[:-1] + gaps)])
    return [(float(a), float(min(a + w, 1.0))) for a, w in zip(starts, widths, strict=True)]


def _traces(panel: Panel, x: str, y: str, bar: Part | None, dark: bool) -> list[Part]:
    rows, columns = panel.values.shape
    numbers = panel.values if panel.shown is None else panel.shown
    heat: Part = {
        "type": "heatmap",
        "name": panel.title,
        "z": panel.values,
        "xaxis": x,
        "yaxis": y,
        "zmin": panel.low,
        "zmax": panel.high,
        "colorscale": panel.scale,
        "customdata": numbers,
        "hovertemplate": panel.hover,
        "hoverongaps": panel.zeros is not None,
        "xgap": 1,
        "ygap": 1,
        "showscale": bar is not None,
    }
    if bar is not None:
        heat["colorbar"] = bar
    traces = [heat]
    if bar is not None and np.isnan(panel.values).all():  # plotly draws no bar where no cell has a colour
        traces.append(_scale(panel, x, y, bar))
    if panel.zeros is not None and panel.zeros.any() and written(panel.zeros):
        traces.append(_zeros(panel.zeros, x, y, dark))
    if panel.clicks:
        down, across = (index.ravel() for index in np.indices((rows, columns)))
        place = np.column_stack([down, across, numbers.ravel()]).astype(np.float32)
        said = panel.hover.replace("%{customdata", "%{customdata[2]")
        if panel.values.size <= NUMBERS and np.isfinite(numbers).all():
            traces.append(_numbers(numbers, x, y, panel))
        traces.append(
            unseen(across, down, name="cells", size=18, xaxis=x, yaxis=y, customdata=place, hovertemplate=said)
        )
    return traces


def _numbers(numbers: Floats, x: str, y: str, panel: Panel) -> Part:
    """Numbers of the cells above a tenth of the largest, dark or light for the better contrast."""
    down, across = (index.ravel() for index in np.indices(numbers.shape))
    reach, span = max(abs(panel.low), abs(panel.high)) or 1.0, (panel.high - panel.low) or 1.0
    digits = 0 if np.all(numbers == np.round(numbers)) else 2 if reach >= 0.1 else 3
    large = np.abs(panel.values.ravel()) >= reach / 10
    said = [_short(float(value), digits) for value in numbers.flat]
    if panel.say is not None:
        said = [panel.say(float(value)) for value in panel.values.flat]
    texts = [text if show else "" for text, show in zip(said, large, strict=True)]
    return {
        "type": "scatter",
        "mode": "text",
        "name": "numbers",
        "x": across,
        "y": down,
        "xaxis": x,
        "yaxis": y,
        "text": texts,
        "hoverinfo": "skip",
        "showlegend": False,
        "textfont": {
            "family": theme.MONO,
            "size": 12,
            "color": [
                theme.ink_on(theme.at(panel.scale, float((value - panel.low) / span))) for value in panel.values.flat
            ],
        },
    }


def _short(value: float, digits: int) -> str:
    """A number for a small cell: n digits after the point (one from 1 on), without a leading 0."""
    if not digits or abs(value) >= 1:
        return f"{value:.{min(digits, 1)}f}".replace("-", "−")
    return f"{value:.{digits}f}".replace("-", "−").replace("0.", ".", 1)


def _zeros(zeros: Bools, x: str, y: str, dark: bool) -> Part:
    down, across = np.nonzero(zeros)
    return {
        "type": "scatter",
        "mode": "text",
        "name": "exactly 0",
        "x": across,
        "y": down,
        "xaxis": x,
        "yaxis": y,
        "text": ["0"] * len(down),
        "hoverinfo": "skip",
        "showlegend": False,
        "textfont": {"family": theme.MONO, "size": 11, "color": theme.palette(dark).faint},
    }


def _scale(panel: Panel, x: str, y: str, bar: Part) -> Part:
    """A trace that draws only the colour bar, so that the grid is as high as its neighbours."""
    marker = {
        "color": [panel.low],
        "cmin": panel.low,
        "cmax": panel.high,
        "colorscale": panel.scale,
        "colorbar": bar,
        "showscale": True,
    }
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "scale",
        "x": [None],
        "y": [None],
        "xaxis": x,
        "yaxis": y,
        "marker": marker,
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _bar(panel: Panel, domain: tuple[float, float], dark: bool) -> Part:
    """A horizontal colour bar as wide as a grid, at the lower edge of the figure: however large the type is, the labels
    keep the room above it."""
    small = {"size": 12, "color": theme.palette(dark).faint}
    ticks: Part = {"nticks": 5} if panel.ticks is None else {"tickvals": panel.ticks[0], "ticktext": panel.ticks[1]}
    return ticks | {
        "orientation": "h",
        "x": domain[0],
        "xanchor": "left",
        "yref": "container",
        "y": 0,
        "yanchor": "bottom",
        "xpad": 0,
        "ypad": 0,
        "lenmode": "fraction",
        "len": domain[1] - domain[0],
        "thickness": 10,
        "outlinewidth": 0,
        "tickfont": small,
        "title": {"text": panel.unit, "side": "bottom", "font": small},
    }


def _axes(panel: Panel, name: str, domain: tuple[float, float], dark: bool) -> Part:
    rows, columns = panel.values.shape
    faint = {"family": theme.MONO, "size": 11, "color": theme.palette(dark).faint}
    width = (domain[1] - domain[0]) * 1100
    across = axes.shown(panel.column_labels, panel.special, width, "", dark) | {"title": {"text": ""}}
    step = axes.every(rows, 16)
    whole = {"fixedrange": max(rows, columns) <= WHOLE}
    return {
        f"xaxis{name}": across
        | {
            "domain": list(domain),
            "anchor": f"y{name}",
            "range": [-0.5, columns - 0.5],
            "showgrid": False,
            "tickangle": -90 if max(map(len, panel.column_labels)) > 3 else 0,
            "ticks": "",
            **whole,
        },
        f"yaxis{name}": {
            "anchor": f"x{name}",
            "range": [rows - 0.5, -0.5],
            "showgrid": False,
            "ticks": "",
            "tickfont": faint,
            "tickvals": np.arange(0, rows, step),
            "ticktext": [theme.escape(t) for t in panel.row_labels[::step]],
            **whole,
        },
    }


def _frames(panel: Panel, x: str, y: str, dark: bool) -> list[Part]:
    """Strong frames around the chosen cells and the marked column."""
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
        "text": theme.escape(panel.title),
        "x": start,
        "y": 1,
        "xref": "paper",
        "yref": "paper",
        "xanchor": "left",
        "yanchor": "bottom",
        "yshift": 4,
        "showarrow": False,
        "align": "left",
        "font": {"size": 14, "color": theme.palette(dark).ink},
    }


def label_room(given: Sequence[Panel]) -> int:
    """The height of the longest column label below its grid, in pixels."""
    labels = [axes.short(label) for panel in given for label in panel.column_labels]
    room = max(map(theme.width, labels)) * 8 if max(map(len, labels)) > 3 else 16
    return room + 2 * axes.STANDOFF


def _below(given: Sequence[Panel]) -> int:
    """The height of the labels and of the colour bar, which may be that of a figure beside this one: all that is below
    the grids, in pixels."""
    return label_room(given) + BAR


def _height(given: Sequence[Panel]) -> int:
    rows = max(panel.values.shape[0] for panel in given)
    return int(min(max(rows * CELL, LEAST), MOST)) + TITLE + _below(given)
