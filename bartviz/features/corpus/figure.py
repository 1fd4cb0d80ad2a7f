"""The heads of a corpus: one measure as a mosaic of layers and heads, and every head as a point with its interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from bartviz.analysis.corpus_measures import in_order, measure_of
from bartviz.arrays import Floats
from bartviz.drawing import axes, theme
from bartviz.drawing.arguments import expect, expect_word
from bartviz.drawing.cells import BUTTONS, Part, box, color_bar, unseen, written
from bartviz.errors import SettingError, choices
from bartviz.language import _
from bartviz.language.percentages import percent
from bartviz.record.attention import KINDS, Head, Kind

if TYPE_CHECKING:
    import pandas as pd

TABLE = "the table of an atlas, bartviz.open_atlas(folder).heads"
WRITTEN = 16  # heads across: up to this many have their number written in the mosaic


def atlas(
    heads: pd.DataFrame,
    *,
    measure: str = "previous",
    kind: Kind | None = None,
    head: Head | None = None,
    intervals: bool = True,
    percents: bool = False,
    dark: bool = False,
) -> go.Figure:
    """All heads of a kind by one measure: left the means as layers x heads, right each with its 95% interval.

    ``heads`` is the table of an atlas; ``head`` is framed; ``kind`` is by default the head's, else the first that has
    the measure. The dotted line is even attention. Without ``intervals`` the means are drawn alone. With
    ``percents`` the means of shares are written in per cent. Raises SettingError for a measure, kind or head that the
    table lacks, and for a head of another kind.

    >>> atlas = bartviz.open_atlas("atlas")
    >>> figure = bartviz.figures.atlas(atlas.heads, measure="previous", kind="encoder")
    """
    import pandas as pd

    expect(heads, pd.DataFrame, TABLE)
    if "measure" not in heads or "mean" not in heads:
        raise SettingError(f"This figure cannot draw that table. It needs {TABLE}.")
    known = in_order(heads["measure"].unique())
    expect_word(measure, known, "The measure")
    rows = heads[heads["measure"] == measure]
    there = [name for name in KINDS if (rows["kind"] == name).any()]
    chosen = kind or (there[0] if head is None else head.kind)
    if chosen not in there:
        raise SettingError(f"No {chosen} attention has the measure {measure}: choose {choices(there)}.")
    if head is not None and head.kind != chosen:
        raise SettingError(f"{head} is no head of {chosen} attention, the kind that is drawn.")
    rows = rows[rows["kind"] == chosen].sort_values(["layer", "head"])
    mosaic = _mosaic(rows, measure, chosen, dark, percents=percents and measure_of(measure).is_share)
    title = {"font": {"size": 13, "color": theme.palette(dark).faint}, "standoff": 6}
    names = [f"L{layer}H{number}" for layer, number in zip(rows["layer"], rows["head"], strict=True)]
    if head is not None and head.short not in names:
        raise SettingError(f"The table has no head {head}.")
    layout: Part = {
        "xaxis": {"side": "top", "title": title | {"text": _("heads →")}, **_counted(rows["head"])},
        "yaxis": {"title": title | {"text": axes.turned(_("layers ↓"))}, **_counted(rows["layer"], down=True)},
        "shapes": [_ground(dark), *([] if head is None else [_frame(head, dark)])],
        "modebar": BUTTONS,
        "hovermode": "closest",
        "hoverdistance": -1,  # a whole cell belongs to its point
    }
    if not intervals:
        return theme.build(mosaic, layout, dark=dark, height=150 + 52 * len(rows["layer"].unique()))
    even = float(rows["even"].iloc[0])
    through = [] if head is None else [_through(names.index(head.short), dark)]
    layout |= {
        "xaxis": layout["xaxis"] | {"domain": [0, 0.5]},
        "xaxis2": {
            "domain": [0.59, 1],
            "anchor": "y2",
            "rangemode": "normal" if measure_of(measure).lowest is None else "tozero",
            "title": title | {"text": _label(measure)},
        },
        "yaxis2": {
            "anchor": "x2",
            "autorange": "reversed",
            "tickvals": np.arange(len(names)) if len(names) <= 3 * WRITTEN else [],
            "ticktext": names if len(names) <= 3 * WRITTEN else [],
            "tickfont": {"family": theme.MONO, "size": 10},
        },
        "shapes": [*layout["shapes"], *through, *([] if np.isnan(even) else [_line(even, dark)])],
    }
    points = _points(rows, measure, chosen, dark)
    return theme.build([*mosaic, points], layout, dark=dark, height=max(420, 80 + 12 * min(len(rows), 3 * WRITTEN)))


def _label(measure: str) -> str:
    known = measure_of(measure)
    return f"{known.title}, {known.unit}"


def _matrix(rows: pd.DataFrame) -> Floats:
    """(L, H) the means, NaN where undefined."""
    table = rows.pivot_table(index="layer", columns="head", values="mean", dropna=False)
    return np.asarray(table, np.float32)


def _mosaic(rows: pd.DataFrame, measure: str, kind: Kind, dark: bool, *, percents: bool) -> list[Part]:
    means = _matrix(rows)
    known = measure_of(measure)
    top = known.highest or float(np.nanmax(np.abs(means), initial=1e-6))
    scale, bottom = theme.scale(kind, dark), 0.0
    bar = _("{measure}, 0 to {top:.3g}", measure=_label(measure), top=top)
    if known.lowest is None and np.nanmin(means, initial=0.0) < 0:
        scale, bottom = theme.difference_scale(dark), -top
        bar = _("{measure}, −{top:.3g} to {top:.3g}", measure=_label(measure), top=top)
    if percents:
        bar = _label(measure)
    cells: Part = {
        "type": "heatmap",
        "name": measure,
        "z": means,
        "zmin": bottom,
        "zmax": top,
        "colorscale": scale,
        "xgap": 2,
        "ygap": 2,
        "colorbar": color_bar(bar, dark) | ({"tickformat": ".0%"} if percents else {}),
        "hoverinfo": "skip",  # the points on the cells have the text, and are what a click hits
    }
    down, across = (index.ravel() for index in np.indices(means.shape))  # counted layer by layer, as the points are
    said = "<b>L%{y}H%{x}</b> %{customdata:" + (".1%" if percents else ".3f") + "}<extra></extra>"
    clicks = unseen(across, down, name="cells", size=18, customdata=means.ravel(), hovertemplate=said)
    if means.shape[1] > WRITTEN:
        return [cells, clicks]
    texts = np.vectorize(percent)(means) if percents else np.char.mod("%.2f" if top < 100 else "%.3g", means)
    size = 13 if means.shape[1] <= WRITTEN // 2 else 11
    return [cells, written(means, texts, top, scale, low=bottom, size=size), clicks]


def _points(rows: pd.DataFrame, measure: str, kind: Kind, dark: bool) -> Part:
    mean = rows["mean"].to_numpy()
    color = theme.at(theme.scale(kind, dark), 0.8)
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "heads",
        "xaxis": "x2",
        "yaxis": "y2",
        "x": mean,
        "y": np.arange(len(rows)),
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": rows["high"].to_numpy() - mean,
            "arrayminus": mean - rows["low"].to_numpy(),
            "thickness": 1.5,
            "width": 2,
            "color": color,
        },
        "marker": {"size": 7, "color": color},
        "customdata": rows[["layer", "head", "low", "high", "n"]].to_numpy(),
        "hovertemplate": [_SHORT if np.isnan(low) else _WHOLE for low in rows["low"]],
        "showlegend": False,
    }


_SHORT = "<b>L%{customdata[0]}H%{customdata[1]}</b> %{x:.3f}, n = %{customdata[4]:,}<extra></extra>"
_WHOLE = _SHORT.replace(", n", " [%{customdata[2]:.3f}, %{customdata[3]:.3f}], n")


def _counted(index: pd.Series, *, down: bool = False) -> Part:
    values = np.arange(int(index.max()) + 1, dtype=np.int32)
    ends = [-0.5, len(values) - 0.5]
    font = {"family": theme.MONO, "size": 12}
    ends = ends[::-1] if down else ends
    return {"tickvals": values, "range": ends, "fixedrange": True, "showgrid": False, "tickfont": font}


def _frame(head: Head, dark: bool) -> Part:
    """A frame around the head's cell."""
    layer, across = head.layer, head.head
    return box(across - 0.5, across + 0.5, layer - 0.5, layer + 0.5, theme.palette(dark).ink, 2)


def _through(row: int, dark: bool) -> Part:
    """A band through the interval of the head in that row."""
    band = {"type": "line", "xref": "x2 domain", "yref": "y2", "x0": 0, "x1": 1, "y0": row, "y1": row}
    return band | {"layer": "below", "line": {"color": theme.palette(dark).masked, "width": 12}}


def _ground(dark: bool) -> Part:
    """The background, seen in the gaps of the mosaic."""
    whole = {"type": "rect", "xref": "x domain", "yref": "y domain", "x0": 0, "x1": 1, "y0": 0, "y1": 1}
    return whole | {"layer": "below", "line": {"width": 0}, "fillcolor": theme.palette(dark).masked}


def _line(even: float, dark: bool) -> Part:
    """A dotted line at the value of even attention."""
    return {
        "type": "line",
        "xref": "x2",
        "yref": "y2 domain",
        "x0": even,
        "x1": even,
        "y0": 0,
        "y1": 1,
        "line": {"color": theme.palette(dark).faint, "width": 1, "dash": "dot"},
    }
