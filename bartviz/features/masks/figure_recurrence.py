"""Path lengths between tokens: handed on from word to word, and with attention."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from bartviz.analysis.recurrence import Recurrence
from bartviz.arrays import Floats
from bartviz.drawing import theme
from bartviz.drawing.cells import Part, written
from bartviz.language import _
from bartviz.text.tokens import Tokens

MOST = 24  # tokens of each side that are drawn
NUMBERED = 14  # cells of a row that have room for their number


def recurrence(one: Recurrence, *, dark: bool = False) -> go.Figure:
    """Two squares with the same colours: steps in a recurrent network, and with attention; at most MOST tokens.

    >>> from bartviz.analysis.recurrence import recurrence
    >>> figure = bartviz.figures.recurrence(recurrence(record))
    """
    rows, columns = (min(len(side), MOST) for side in (one.rows, one.columns))
    names = (_("Recurrent: {longest} steps at most", longest=one.longest), _("Attention: 1 step"))
    squares = (one.recurrent[:rows, :columns], one.attention[:rows, :columns])
    traces = [
        part
        for number, square in enumerate(squares)
        for part in _square(one, square, number, numbered=columns <= NUMBERED, dark=dark)
    ]
    axis = {"showgrid": False, "zeroline": False, "fixedrange": True}
    across = axis | _ticks(one.columns, columns) | {"side": "top", "tickangle": -90}
    down = axis | _ticks(one.rows, rows) | {"autorange": "reversed"}
    layout = {
        "xaxis": across | {"domain": [0, 0.46]},
        "xaxis2": across | {"domain": [0.54, 1], "anchor": "y2"},
        "yaxis": down,
        "yaxis2": down | {"anchor": "x2", "showticklabels": False},
        "annotations": [
            {
                "text": name,
                "x": 0.5,
                "xref": f"{axis_name} domain",
                "y": 0,
                "yref": "paper",
                "yshift": -14,
                "yanchor": "top",
                "showarrow": False,
                "font": {"size": 13},
            }
            for name, axis_name in zip(names, ("x", "x2"), strict=True)
        ],
        "margin": {"t": 84, "b": 44, "l": 84, "r": 12},
        "showlegend": False,
    }
    return theme.build(traces, layout, dark=dark, height=128 + 22 * rows)


def _square(one: Recurrence, square: Floats, number: int, *, numbered: bool, dark: bool) -> list[Part]:
    scale, top = theme.scale(one.kind, dark), max(one.longest, 1)
    axes: Part = {"xaxis": "x2", "yaxis": "y2"} if number else {}
    rows, columns = square.shape
    hover = [[_cell(one, square, row, column) for column in range(columns)] for row in range(rows)]
    cells: Part = {
        "type": "heatmap",
        "z": square,
        "zmin": 0,
        "zmax": top,
        "colorscale": [list(stop) for stop in scale],
        "showscale": False,
        "xgap": 1,
        "ygap": 1,
        "hovertext": hover,
        "hovertemplate": "%{hovertext}<extra></extra>",
        "hoverongaps": False,
        **axes,
    }
    return [cells, written(square, np.char.mod("%.0f", square), top, scale, **axes)] if numbered else [cells]


def _cell(one: Recurrence, square: Floats, row: int, column: int) -> str:
    if np.isnan(square[row, column]):
        return ""
    return _(
        "{key} to {query}: {steps} steps",
        key=theme.escape(one.columns.labels[column]),
        query=theme.escape(one.rows.labels[row]),
        steps=int(square[row, column]),
    )


def _ticks(tokens: Tokens, count: int) -> dict[str, object]:
    return {
        "tickvals": list(range(count)),
        "ticks": "",
        "ticktext": [theme.escape(label) for label in tokens.labels[:count]],
        "tickfont": {"family": theme.MONO, "size": 12},
    }
