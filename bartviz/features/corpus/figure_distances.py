"""How far one head looks over a corpus: its weight by signed distance, beside even attention."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go

from bartviz.analysis.corpus import of_head
from bartviz.corpus.looks import distance_name
from bartviz.drawing import theme
from bartviz.drawing.arguments import expect
from bartviz.errors import SettingError
from bartviz.language import _
from bartviz.record.attention import Head

if TYPE_CHECKING:
    import pandas as pd

TABLE = "the table of an atlas, bartviz.open_atlas(folder).distances()"


def distances(distances: pd.DataFrame, *, head: Head, dark: bool = False) -> go.Figure:
    """The share of a head's weight by distance in tokens, left what is earlier, right what is later, and at last that
    of special tokens; lines are 95% intervals, dashes what even attention would give.

    ``distances`` is the table of an atlas. Distances that no row of the corpus can look at are left out. Raises
    SettingError for a head that the table lacks.

    >>> from bartviz.record.attention import Head
    >>> far = bartviz.open_atlas("atlas").distances()
    >>> figure = bartviz.figures.distances(far, head=Head("encoder", 0, 1))
    """
    import pandas as pd

    expect(distances, pd.DataFrame, TABLE)
    if "nearest" not in distances:
        raise SettingError(f"This figure cannot draw that table. It needs {TABLE}.")
    rows = of_head(distances, head)
    if rows.empty:
        raise SettingError(f"{head} is not in that table: it needs {TABLE}.")
    rows = rows[rows["special"] | (rows["even"] > 0) | (rows["share"] > 0)]
    names = [
        _("special") if special else distance_name(nearest, farthest)
        for special, nearest, farthest in zip(rows["special"], rows["nearest"], rows["farthest"], strict=True)
    ]
    colors, share = theme.palette(dark), rows["share"].to_numpy()
    common = {"x": names, "customdata": list(zip(rows["low"], rows["high"], rows["even"], strict=True))}
    bars = common | {
        "type": "bar",
        "name": _("this head"),
        "y": share,
        "marker": {"color": theme.kind_color(head.kind, dark)},
        "error_y": {
            "array": (rows["high"].fillna(rows["share"]) - share).to_numpy(),
            "arrayminus": (share - rows["low"].fillna(rows["share"])).to_numpy(),
            "color": colors.ink,
            "thickness": 1.2,
            "width": 3,
        },
        "hovertemplate": "%{x}: %{y:.3f} [%{customdata[0]:.3f}, %{customdata[1]:.3f}]<extra></extra>",
    }
    even = common | {
        "type": "scatter",
        "mode": "markers",
        "name": _("even attention"),
        "y": rows["even"].to_numpy(),
        "marker": {"symbol": "line-ew-open", "size": 9, "color": colors.ink, "line": {"width": 2}},
        "hovertemplate": "%{x}: %{y:.3f}<extra></extra>",
    }
    title = {"font": {"size": 13, "color": colors.faint}, "standoff": 6}
    layout = {
        "xaxis": {"title": title | {"text": _("distance in tokens")}, "type": "category"},
        "yaxis": {"title": title | {"text": _("share of the weight")}, "rangemode": "tozero"},
        "bargap": 0.15,
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "xanchor": "left", "yanchor": "bottom"},
    }
    return theme.build([bars, even], layout, dark=dark, height=300)
