"""Two heads side by side, and B minus A: orange where A has more weight, blue where B has."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from bartviz.analysis.distance import Contrast, contrast, limit, mismatch, paired
from bartviz.analysis.head_view import View
from bartviz.analysis.weight_scale import Range
from bartviz.arrays import Floats
from bartviz.drawing import axes, masked_cells, theme
from bartviz.drawing.cells import Part, closed, color_bar, grid, pool
from bartviz.drawing.heads import one
from bartviz.drawing.maps import COLUMN, ROW, SIDE, at_most
from bartviz.drawing.side_by_side import side_by_side
from bartviz.language import _


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
        maps.append(difference(a, b, found, dark=dark))
        titles.append(_("B - A, mean distance {distance:.3f}", distance=found.mean))
    return side_by_side(maps, titles, dark=dark)


def difference(a: View, b: View, found: Contrast, *, dark: bool = False) -> go.Figure:
    """B's weights minus A's, (R, C), on a symmetric scale up to the largest difference.

    Where their texts differ, a row or column is named by both tokens. Cells that are masked for both are hatched.
    """
    rows, columns = paired(a.query_labels, b.query_labels), paired(a.key_labels, b.key_labels)
    factor = -(-max(found.difference.shape) // SIDE)
    seen = a.mask | b.mask
    values = np.where(seen, found.difference, np.float32(np.nan))
    end = limit(found.difference)
    hover = _("{row} to {column}: B - A {difference}", row=ROW, column=COLUMN, difference=at_most("%{z:+.3f}", factor))
    cells: Part = {
        "type": "heatmap",
        "name": "difference",
        "z": _pooled(values, factor),
        **grid(factor),
        "zmin": -end,
        "zmax": end,
        "zmid": 0,
        "colorscale": theme.difference_scale(dark),
        "hoverongaps": False,
        "colorbar": color_bar(_("B - A: orange A more, blue B more"), dark),
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
        rows, columns, query_special=a.query_special, key_special=a.key_special, pooled=factor, dark=dark
    )
    return theme.build(traces, layout, dark=dark, height=axes.height(rows, columns))


def _pooled(values: Floats, factor: int) -> Floats:
    """The difference farthest from 0 in each block of cells."""
    up, down = pool(values, factor), -pool(-values, factor)
    return up if factor == 1 else np.where(up >= -down, up, down)
