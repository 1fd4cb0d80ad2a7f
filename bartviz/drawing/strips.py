"""Strips of numbers: vectors as rows of cells, stronger colour for larger numbers, grey for negative ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bartviz.drawing import theme
from bartviz.drawing.cells import Part

NEGATIVE = ("#6b7280", "#9aa3b2")  # in the light, in the dark: a neutral that no role and no kind has


def strip(
    values: NDArray[Any],  # (rows, d), NaN where there is nothing
    *,
    color: str,
    xaxis: str,
    yaxis: str,
    hover: str,
    name: str,
    customdata: NDArray[Any] | None = None,
    dark: bool = False,
) -> Part:
    """A trace of vectors below each other, from grey (negative) over the background (0) to ``color``."""
    largest = float(np.nanmax(np.abs(values), initial=0.0)) or 1.0
    return {
        "type": "heatmap",
        "name": name,
        "z": values.astype(np.float32),
        "zmin": -largest,
        "zmax": largest,
        "colorscale": [[0, NEGATIVE[dark]], [0.5, theme.palette(dark).background], [1, color]],
        "showscale": False,
        "xaxis": xaxis,
        "yaxis": yaxis,
        "hovertemplate": f"{hover}<extra></extra>",
        "ygap": 2,
        **({} if customdata is None else {"customdata": customdata}),
    }


def bars(
    values: NDArray[Any],
    *,
    colors: list[str],
    xaxis: str,
    hover: list[str],
    name: str,
    text: list[str] | None = None,
    size: int = 12,
) -> Part:
    """A trace of horizontal bars, one for each row; tokens in ``hover`` must be escaped. ``size`` is that of the
    texts beside them."""
    return {
        "type": "bar",
        "orientation": "h",
        "name": name,
        "x": values,
        "y": np.arange(len(values)),
        "marker": {"color": colors},
        "xaxis": xaxis,
        "yaxis": "y",
        "hovertext": hover,
        "hoverinfo": "text",
        "showlegend": False,
        "width": 0.72,
        "text": text,
        "textposition": "outside",
        "cliponaxis": False,
        "constraintext": "inside",  # a text beside a thin bar is as large as any
        "textfont": {"family": theme.MONO, "size": size},
    }


def signed(values: NDArray[Any], color: str, dark: bool) -> list[str]:
    """``color`` for each non-negative number, grey for the others."""
    return [NEGATIVE[dark] if value < 0 else color for value in values]


def caption(text: str, x: float, y: float, dark: bool, *, anchor: str = "left") -> Part:
    """A caption above a panel, at a position in 0..1 of the figure; tokens in it must be escaped."""
    return {
        "text": text,
        "x": x,
        "y": y,
        "xref": "paper",
        "yref": "paper",
        "xanchor": anchor,
        "yanchor": "bottom",
        "showarrow": False,
        "align": "left",
        "font": {"size": 13, "color": theme.palette(dark).ink},
    }
