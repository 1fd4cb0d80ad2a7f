"""A figure as it is sent: the same as plotly sends, each time."""

from __future__ import annotations

import json

import plotly.graph_objects as go
import plotly.io
from plotly.tools import return_figure_from_figure_or_data

from bartviz import figures
from bartviz.drawing.cached_figure import CachedFigure
from bartviz.record.record import Record


def sent(figure: go.Figure | CachedFigure) -> dict[str, object]:
    """As Streamlit sends it."""
    plain = return_figure_from_figure_or_data(figure, validate_figure=True)
    found: dict[str, object] = json.loads(plotly.io.to_json(plain, validate=False))
    return found


def test_it_is_sent_like_the_figure(record: Record) -> None:
    others = [getattr(figures, name)(record) for name in ("masks", "alignment") if name in dir(figures)]
    for figure in (figures.heads(record.attention("cross"), layer=1), *others):
        drawn = CachedFigure(figure)
        assert sent(drawn) == sent(figure)
        assert sent(drawn) == sent(figure)
        assert len(json.dumps(sent(figure))) < drawn.nbytes < 8 * len(json.dumps(sent(figure)))


def test_later_changes_of_the_figure_do_not_affect_it() -> None:
    figure = go.Figure({"data": [{"type": "scatter", "y": [1, 2, 3]}]})
    drawn = CachedFigure(figure)
    before = sent(drawn)
    figure.update_layout(title="another")
    figure.data[0].y = [4]
    assert sent(drawn) == before
