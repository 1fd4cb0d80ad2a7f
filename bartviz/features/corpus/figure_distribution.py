"""How the values of one measure of one head are distributed over the texts of a corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go

from bartviz.analysis.corpus import of_head
from bartviz.analysis.corpus_measures import in_order, measure_of
from bartviz.drawing import theme
from bartviz.drawing.arguments import expect, expect_word
from bartviz.errors import SettingError
from bartviz.language import _
from bartviz.record.attention import Head

if TYPE_CHECKING:
    import pandas as pd

TABLE = "the table of an atlas, bartviz.open_atlas(folder).histograms"


def distribution(
    histograms: pd.DataFrame, *, measure: str, head: Head, width: float = 0.05, dark: bool = False
) -> go.Figure:
    """How many texts have which value, as bars that are ``width`` wide (``Atlas.bins(measure).width``).

    ``histograms`` is the table of an atlas. Raises SettingError for a measure or head that the table lacks.

    >>> from bartviz.record.attention import Head
    >>> histograms = bartviz.open_atlas("atlas").histograms
    >>> figure = bartviz.figures.distribution(histograms, measure="previous", head=Head("encoder", 0, 1))
    """
    import pandas as pd

    expect(histograms, pd.DataFrame, TABLE)
    expect_word(measure, in_order(histograms["measure"].unique()), "The measure")
    rows = of_head(histograms, head)
    rows = rows[rows["measure"] == measure].sort_values("bin")
    if rows.empty:
        raise SettingError(f"{head} has no values of the measure {measure}.")
    known = measure_of(measure)
    bars = {
        "type": "bar",
        "name": measure,
        "x": rows["bin"].to_numpy() + width / 2,
        "y": rows["texts"].to_numpy(),
        "width": width,
        "marker": {
            "color": theme.kind_color(head.kind, dark),
            "line": {"width": 1, "color": theme.palette(dark).background},
        },
        "hovertemplate": "%{x:.3g}: %{y:,}<extra></extra>",
    }
    title = {"font": {"size": 13, "color": theme.palette(dark).faint}, "standoff": 6}
    bounds = {} if known.highest is None else {"range": [0.0, known.highest]}
    across = {
        "title": title | {"text": f"{known.title}, {known.unit}"},
        "rangemode": "tozero" if known.lowest == 0 else "normal",
        **bounds,
    }
    layout = {"xaxis": across, "yaxis": {"title": title | {"text": _("texts")}}, "bargap": 0}
    return theme.build([bars], layout, dark=dark, height=280)
