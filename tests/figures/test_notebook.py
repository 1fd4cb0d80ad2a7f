"""Figures as a notebook shows them: drawn, and without asking another host for anything."""

from __future__ import annotations

import re
import sys
from contextlib import nullcontext
from types import SimpleNamespace

import plotly.graph_objects as go
import pytest
from plotly.offline import get_plotlyjs

from bartviz import figures
from bartviz.drawing import theme
from tests.support import stand_in

SCRIPT = get_plotlyjs()
ASKS = re.compile(r"<script[^>]+src=|<link|@import|https?://|//cdn")


@pytest.mark.slow
def test_a_notebook_asks_no_other_host_and_is_sent_the_script_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(theme.Figure, "_script_sent", False)
    record = stand_in.record()
    shown = [
        figures.heads(record.attention("cross"), layer=0),
        figures.heads(record.attention("decoder")),
        figures.ribbons(record),
        theme.enlarged(figures.heads(record.attention("encoder"), layer=1, head=0), 1.2),
    ]
    bundles = [figure._repr_mimebundle_() for figure in shown]
    assert [SCRIPT in bundle["text/html"] for bundle in bundles] == [True, False, False, False]
    for bundle in bundles:
        assert not ASKS.search(bundle["text/html"].replace(SCRIPT, ""))
        assert bundle["application/vnd.plotly.v1+json"]["data"]


def test_a_figure_as_html_is_complete_and_loads_nothing() -> None:
    drawn = figures.ribbons(stand_in.record())._repr_html_()
    assert SCRIPT in drawn
    assert not ASKS.search(drawn.replace(SCRIPT, ""))


class Display:
    """What IPython shows."""

    def __init__(self) -> None:
        self.shown: list[object] = []

    def display(self, figure: object) -> None:
        self.shown.append(figure)


def test_a_notebook_shows_the_figure_itself_and_a_terminal_what_plotly_does(monkeypatch: pytest.MonkeyPatch) -> None:
    plain: list[str] = []
    monkeypatch.setattr(go.Figure, "show", lambda *_given, **_options: plain.append("show"))
    monkeypatch.setattr(go.Figure, "_ipython_display_", lambda _self: plain.append("display"))
    figure, display = figures.ribbons(stand_in.record()), Display()
    for kernel in (True, False):
        shell = SimpleNamespace(kernel=1) if kernel else SimpleNamespace()
        ipython = SimpleNamespace(get_ipython=lambda shell=shell: shell, display=display)
        monkeypatch.setitem(sys.modules, "IPython", ipython)
        with pytest.raises(NotImplementedError) if kernel else nullcontext():
            figure._ipython_display_()
        figure.show()
    assert display.shown == [figure]
    assert plain == ["display", "show"]
