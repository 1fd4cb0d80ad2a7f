"""Two atlases, head by head: the mean of one against the mean of the other, each with its interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from bartviz.analysis.corpus_against import against
from bartviz.analysis.corpus_measures import in_order, measure_of
from bartviz.drawing import theme
from bartviz.drawing.arguments import expect, expect_word
from bartviz.drawing.cells import BUTTONS, Part
from bartviz.errors import SettingError, choices
from bartviz.features.corpus.figure import TABLE
from bartviz.record.attention import Kind

if TYPE_CHECKING:
    import pandas as pd

NAMED = 6  # heads that have their name written: those whose means differ most
_SIDES = ("top center", "middle left", "bottom right")  # of a point, in turn, so that names of neighbours part


def atlas_pair(
    heads: pd.DataFrame,
    other: pd.DataFrame,
    *,
    measure: str = "previous",
    kind: Kind = "encoder",
    names: tuple[str, str] = ("", ""),
    table: pd.DataFrame | None = None,
    dark: bool = False,
) -> go.Figure:
    """The heads of one kind by one measure: across the mean in the first atlas, upwards that in the other one, with
    their 95% intervals. On the dotted diagonal both are the same; a filled point is a head whose difference has a 95%
    interval without 0.

    ``heads`` and ``other`` are tables of atlases, ``names`` how they are called; ``table`` is that of ``Atlas.against``
    where it is to be another than the one of independent texts, such as the paired one. Raises SettingError for a
    measure or kind that they do not share.

    >>> atlas, other = bartviz.open_atlas("atlas"), bartviz.open_atlas("other")
    >>> figure = bartviz.figures.atlas_pair(atlas.heads, other.heads, measure="previous", kind="encoder")
    """
    import pandas as pd

    for given in (heads, other, *([] if table is None else [table])):
        expect(given, pd.DataFrame, TABLE)
    both = against(heads, other) if table is None else table
    of_kind = both[both["kind"] == kind]
    if of_kind.empty:
        raise SettingError(f"The atlases share no {kind} attention: choose {choices(list(both['kind'].unique()))}.")
    expect_word(measure, in_order(of_kind["measure"].unique()), "The measure")
    rows = of_kind[of_kind["measure"] == measure].sort_values(["layer", "head"])
    top = float(np.nanmax(rows[["mean", "high", "other_mean", "other_high"]].to_numpy(), initial=1e-6)) * 1.05
    bottom = min(0.0, float(np.nanmin(rows[["mean", "low", "other_mean", "other_low"]].to_numpy(), initial=0.0)))
    known = measure_of(measure)
    label = f"{known.title}, {known.unit}"
    title = {"font": {"size": 13, "color": theme.palette(dark).faint}}
    layout = {
        "xaxis": {"range": [bottom, top], "title": title | {"text": _axis(names[0], label)}},
        "yaxis": {"range": [bottom, top], "title": title | {"text": _axis(names[1], label)}},
        "shapes": [_diagonal(bottom, top, dark)],
        "modebar": BUTTONS,
        "hovermode": "closest",
    }
    return theme.build([_points(rows, kind, dark)], layout, dark=dark, height=460)


def _axis(name: str, label: str) -> str:
    """The title of an axis: whose mean of what."""
    return theme.escape(f"{name}: {label}" if name else label)


def _points(rows: pd.DataFrame, kind: Kind, dark: bool) -> Part:
    mean, other = rows["mean"].to_numpy(), rows["other_mean"].to_numpy()
    apart = (rows["difference_low"].to_numpy() > 0) | (rows["difference_high"].to_numpy() < 0)
    color = theme.at(theme.scale(kind, dark), 0.8)
    names = np.array(
        [f"L{layer}H{head}" for layer, head in zip(rows["layer"], rows["head"], strict=True)], dtype=object
    )
    most = np.argsort(-np.abs(rows["difference"].to_numpy()), kind="stable")[:NAMED]
    shown = np.full(len(rows), "", dtype=object)
    shown[most] = np.where(apart[most], names[most], "")
    sides = np.full(len(rows), _SIDES[0], dtype=object)
    sides[most] = [_SIDES[place % len(_SIDES)] for place in range(len(most))]
    return {
        "type": "scatter",
        "mode": "markers+text",
        "name": "heads",
        "x": mean,
        "y": other,
        "error_x": _interval(mean, rows["low"].to_numpy(), rows["high"].to_numpy(), color),
        "error_y": _interval(other, rows["other_low"].to_numpy(), rows["other_high"].to_numpy(), color),
        "text": shown,
        "textposition": sides.tolist(),
        "textfont": {"family": theme.MONO, "size": 11},
        "marker": {
            "size": 8,
            "color": [color if one else theme.palette(dark).background for one in apart],
            "line": {"color": color, "width": 1.5},
        },
        "customdata": np.stack(
            [names, rows["role"].to_numpy(), rows["other_role"].to_numpy(), rows["difference"].to_numpy()], axis=1
        ),
        "hovertemplate": "<b>%{customdata[0]}</b> %{x:.3f} → %{y:.3f} (%{customdata[3]:+.3f})<br>"
        "%{customdata[1]} → %{customdata[2]}<extra></extra>",
        "showlegend": False,
    }


def _interval(mean: np.ndarray, low: np.ndarray, high: np.ndarray, color: str) -> Part:
    return {
        "type": "data",
        "symmetric": False,
        "array": high - mean,
        "arrayminus": mean - low,
        "thickness": 1.2,
        "width": 0,
        "color": color,
    }


def _diagonal(bottom: float, top: float, dark: bool) -> Part:
    """A dotted line where both means are the same."""
    return {
        "type": "line",
        "layer": "below",
        "x0": bottom,
        "y0": bottom,
        "x1": top,
        "y1": top,
        "line": {"color": theme.palette(dark).faint, "width": 1, "dash": "dot"},
    }
