"""Parts of maps: cells, closed cells, frames, a colour bar. Each is a plain dictionary.

A figure is built from them in one call (``theme.build``): in many steps plotly takes ten times as long.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bartviz.arrays import Bools, Floats
from bartviz.drawing import theme

Part = dict[str, Any]

# Of plotly's buttons two stay, so that they cover no cell: save as a picture, and back from a zoom (drag zooms in).
BUTTONS: Part = {"remove": ["select2d", "lasso2d", "zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "autoScale2d"]}


def closed(mask: Bools, factor: int, words: str) -> Part:
    """The hover text for gaps of a heatmap: an invisible map of one byte per cell below it.

    ``words`` is a plotly template of %{x} and %{y} alone.
    """
    sides = [-(-side // factor) for side in mask.shape]
    return {
        "type": "heatmap",
        "name": "masked",
        "z": np.zeros(sides, np.uint8),
        "opacity": 0,
        "showscale": False,
        "hovertemplate": f"{words}<extra></extra>",
        **grid(factor),
    }


def pool(weights: Floats, factor: int) -> Floats:
    """(ceil(Q / factor), ceil(K / factor)): the largest value of each factor x factor block, NaN if all of it is
    NaN."""
    if factor == 1:
        return weights
    queries, keys = (-(-side // factor) for side in weights.shape)
    padded = np.full((queries * factor, keys * factor), np.nan, np.float32)
    padded[: weights.shape[0], : weights.shape[1]] = weights
    pooled: Floats = np.fmax.reduce(padded.reshape(queries, factor, keys, factor), axis=(1, 3))
    return pooled


def grid(factor: int) -> Part:
    """The positions of cells: tokens, or the middle of each block of tokens."""
    middle = (factor - 1) / 2
    return {"x0": middle, "dx": factor, "y0": middle, "dy": factor}


def written(
    values: Floats, texts: Any, top: float, scale: theme.Scale, *, low: float = 0.0, size: int = 11, **more: Any
) -> Part:
    """A text on each finite cell of a heatmap from ``low`` to ``top``, in the ink that can be read on the cell's color;
    plotly's own choice of grey or white cannot be read on colors in the middle."""
    rows, columns = np.nonzero(np.isfinite(values))
    inks = [
        theme.ink_on(theme.at(scale, (float(values[at]) - low) / (top - low))) for at in zip(rows, columns, strict=True)
    ]
    return {
        "type": "scatter",
        "mode": "text",
        "name": "numbers",
        "x": columns,
        "y": rows,
        "text": np.asarray(texts)[rows, columns].tolist(),
        "textfont": {"size": size, "color": inks},
        "hoverinfo": "skip",
        "showlegend": False,
        **more,
    }


def unseen(x: Any, y: Any, *, name: str, size: int, **more: Any) -> Part:
    """Invisible points, for hover texts and clicks."""
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": x,
        "y": y,
        "showlegend": False,
        "marker": {"size": size, "symbol": "square", "opacity": 0.001, "color": "#808080"},
        "selected": {"marker": {"opacity": 0.001}},
        "unselected": {"marker": {"opacity": 0.001}},
        **more,
    }


def frames(shape: tuple[int, ...], row: int | None, dark: bool) -> list[Part]:
    """A thin frame around the map, and a stronger one around the chosen row."""
    queries, keys = shape
    colors = theme.palette(dark)
    found = [box(-0.5, keys - 0.5, -0.5, queries - 0.5, colors.hatch, 1)]
    return found if row is None else [*found, box(-0.5, keys - 0.5, row - 0.5, row + 0.5, colors.ink, 2)]


def box(left: float, right: float, top: float, bottom: float, color: str, width: int) -> Part:
    """The outline of a rectangle, in the units of the first axes."""
    line = {"color": color, "width": width}
    return {"type": "rect", "x0": left, "x1": right, "y0": top, "y1": bottom, "line": line}


def color_bar(title: str, dark: bool, height: int | None = None) -> Part:
    """A short colour bar below the map, shorter in a figure of small ``height``."""
    small = {"size": 12, "color": theme.palette(dark).faint}
    return {
        "title": {"text": title, "side": "top", "font": small},
        "tickfont": small,
        "orientation": "h",
        "x": 0.0,
        "xanchor": "left",
        "y": 0.0,
        "yanchor": "top",
        "xpad": 0,
        "ypad": 8,
        "lenmode": "pixels",
        "len": 240 if height is None or height > 400 else 160,
        "thickness": 10,
        "outlinewidth": 0,
    }
