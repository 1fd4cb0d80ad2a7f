"""Figures as a notebook shows them: drawn, and without asking another host for anything."""

from __future__ import annotations

import re

import pytest
from plotly.offline import get_plotlyjs

from bartviz import figures
from bartviz.figures import theme
from tests import stand_in

SCRIPT = get_plotlyjs()
ASKS = re.compile(r"<script[^>]+src=|<link|@import|https?://|//cdn")


def test_a_notebook_asks_no_other_host_and_is_sent_the_script_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(theme.Figure, "_script_sent", False)
    record = stand_in.record()
    shown = [
        figures.heads(record.attention("cross"), layer=0), figures.masks(record), figures.sizes(),
        figures.cost("bert-base-uncased"), theme.enlarged(figures.parameters("facebook/bart-base"), 1.2),
    ]  # fmt: skip
    assert all(figure._ipython_display_ is None for figure in shown)  # it would come before what is looked at here
    bundles = [figure._repr_mimebundle_() for figure in shown]
    assert [SCRIPT in bundle["text/html"] for bundle in bundles] == [True, False, False, False, False]
    for bundle in bundles:
        assert not ASKS.search(bundle["text/html"].replace(SCRIPT, ""))
        assert bundle["application/vnd.plotly.v1+json"]["data"]


def test_a_figure_as_html_alone_draws_itself_and_asks_no_other_host() -> None:
    drawn = figures.sizes()._repr_html_()
    assert SCRIPT in drawn
    assert not ASKS.search(drawn.replace(SCRIPT, ""))
