"""Two heads side by side, and B minus A: orange where A has more weight, blue where B has."""

from __future__ import annotations

import math

import numpy as np
import plotly.graph_objects as go

from bartviz.analysis.distance import Contrast, contrast, mismatch, paired
from bartviz.analysis.head_view import View
from bartviz.analysis.weight_scale import Range
from bartviz.analysis.word_colors import Numbers
from bartviz.arrays import Floats
from bartviz.drawing import axes, masked_cells, theme
from bartviz.drawing.cells import Part, closed, color_bar, frames, grid, pool
from bartviz.drawing.heads import one
from bartviz.drawing.maps import COLUMN, ROW, SIDE, at_most
from bartviz.drawing.side_by_side import side_by_side
from bartviz.language import _

SMALL = 320  # pixels of a figure with a short colour bar
BARS = 0.17  # share of the width that the distances of the rows take


def pin_color(letter: str, dark: bool = False) -> str:
    """The colour of A (orange) or B (blue): the ends of the scale of differences."""
    colors = [str(color) for _place, color in theme.difference_scale(dark)]
    return colors[1] if letter == "A" else colors[5]


def pair(
    a: View,
    b: View,
    *,
    range: Range = "fixed",  # noqa: A002
    dark: bool = False,
) -> go.Figure:
    """A, B, and B minus A if most of their tokens are the same; else A and B, and the title says why."""
    maps, titles = [one(view, range=range, dark=dark) for view in (a, b)], [f"A: {a.name}", f"B: {b.name}"]
    found = contrast(a, b)
    if found is None:
        titles[1] += f". {mismatch(a, b)}"
    else:
        maps.append(difference(a, b, found, bars=False, dark=dark))
        titles.append(_("B - A, mean distance {distance:.3f}", distance=found.mean))
    return side_by_side(maps, titles, dark=dark)


def difference(
    a: View,
    b: View,
    found: Contrast,
    *,
    row: int | None = None,
    bars: bool = True,
    titled: bool = True,
    colors: tuple[Numbers, Numbers] = ((), ()),
    height: int | None = None,
    dark: bool = False,
) -> go.Figure:
    """B's weights minus A's, (R, C), on a symmetric scale up to the largest difference; ``row`` is framed.

    Where their texts differ, a row or column is named by both tokens.

    ``bars``: the Jensen-Shannon distance of each row next to it, from 0 to 1; the map is then as wide as there is room
    beside them, and its cells are not square. ``titled``: its axes and colours have titles, else it is as on a canvas.
    ``colors``:
    the numbers of the words of rows and columns, as of ``bartviz.drawing.maps.attention_map``. Cells that are masked
    for both are hatched.
    """
    rows, columns = paired(a.query_labels, b.query_labels), paired(a.key_labels, b.key_labels)
    factor = -(-max(found.difference.shape) // SIDE)
    seen = a.mask | b.mask
    values = np.where(seen, found.difference, np.float32(np.nan))
    limit = _limit(found.difference)
    hover = _("{row} to {column}: B - A {difference}", row=ROW, column=COLUMN, difference=at_most("%{z:+.3f}", factor))
    cells: Part = {
        "type": "heatmap",
        "name": "difference",
        "z": _pooled(values, factor),
        **grid(factor),
        "zmin": -limit,
        "zmax": limit,
        "zmid": 0,
        "colorscale": theme.difference_scale(dark),
        "hoverongaps": False,
        "colorbar": color_bar(_("B - A: orange A more, blue B more"), dark, height)
        if titled
        else color_bar("", dark, SMALL),
        "hovertemplate": f"{hover}<extra></extra>",
    }
    traces = [cells, axes.anchor()]
    if not seen.all():
        traces = [
            closed(seen, factor, _("{row} may not attend to {column}", row=ROW, column=COLUMN)),
            *traces,
            masked_cells.hatching(~seen, dark),
        ]
    layout = axes.token_axes(
        rows,
        columns,
        query_special=a.query_special,
        key_special=a.key_special,
        pooled=factor,
        row=row,
        height=height,
        dark=dark,
    ) | {"shapes": [*frames(found.difference.shape, row, dark), *axes.word_bars(*colors, dark)]}
    layout["xaxis2"] |= {"tickangle": -90}  # as on the maps of A and B above it
    if not titled:
        layout |= _as_on_a_canvas(layout, len(rows), len(columns), row)
    if bars:
        traces.append(_bars(found, dark))
        layout |= _beside_bars(layout, dark, titled=titled)
    pixels = height or axes.height(rows, columns)
    return theme.build(traces, layout, dark=dark, height=pixels)


def _as_on_a_canvas(layout: Part, rows: int, columns: int, row: int | None) -> Part:
    """The labelled axes without titles, unless those say which labels are left out; the name of the row is bold."""
    found = {
        name: layout[name] | ({"title": None} if len(layout[name]["tickvals"]) == count else {})
        for name, count in (("xaxis2", columns), ("yaxis2", rows))
    }
    named = zip(layout["yaxis2"]["tickvals"], layout["yaxis2"]["ticktext"], strict=True)
    found["yaxis2"]["ticktext"] = [f"<b>{text}</b>" if place == row else text for place, text in named]
    return found


def _limit(difference: Floats) -> float:
    """The largest difference, rounded up to a tenth."""
    largest = float(np.abs(difference).max()) if difference.size else 0.0
    return max(math.ceil(largest * 10 - 1e-6) / 10, 0.1)


def _pooled(values: Floats, factor: int) -> Floats:
    """The difference farthest from 0 in each block of cells."""
    up, down = pool(values, factor), -pool(-values, factor)
    return up if factor == 1 else np.where(up >= -down, up, down)


def _bars(found: Contrast, dark: bool) -> Part:
    rows = np.arange(len(found.distance), dtype=np.int32)
    hover = _("{row}: Jensen-Shannon distance {distance}", row=ROW, distance="%{x:.3f}")
    return {
        "type": "bar",
        "name": "distance",
        "orientation": "h",
        "x": found.distance.astype(np.float32),
        "y": rows,
        "xaxis": "x3",
        "yaxis": "y",
        "marker": {"color": theme.palette(dark).faint},
        "showlegend": False,
        "hovertemplate": f"{hover}<extra></extra>",
        "width": 0.8,
    }


def _beside_bars(layout: Part, dark: bool, *, titled: bool) -> Part:
    """The map's axes made narrower, but as wide as is left by the bars, and the axis of the bars."""
    small = {"size": 11, "color": theme.palette(dark).faint}
    ends = {"domain": [0, 1 - BARS - 0.04]}
    return {
        "yaxis": {name: value for name, value in layout["yaxis"].items() if name != "scaleanchor"},
        "xaxis": layout["xaxis"] | ends,
        "xaxis2": layout["xaxis2"] | ends,
        "xaxis3": {
            "domain": [1 - BARS, 1],
            "anchor": "y",
            "range": [0, 1],
            "tickvals": [0, 1],
            "showgrid": True,
            "tickfont": small,
            "title": {"text": _("distance"), "font": small, "standoff": 2} if titled else None,
        },
    }
