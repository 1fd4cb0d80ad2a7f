"""Earlier layers on the page inside: read when their tab is open."""

from __future__ import annotations

import html

import pytest

import bartviz
from bartviz.analysis import lens as analysis
from bartviz.analysis.residual import Stack
from bartviz.models.roots import default_roots
from tests.features.inside.test_page_residual import opened
from tests.support import visits
from tests.support.pages import App, tables

pytestmark = pytest.mark.usefixtures("engine")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "stack"),
    [("small-bart", "encoder"), ("small-bart", "decoder"), ("small-bert", "encoder"), ("small-gpt2", "decoder")],
)
def test_the_layers_of_the_chosen_stack_are_read(app: App, name: str, stack: Stack) -> None:
    record, page = opened(app, name, around="lens", lens=stack)
    one = bartviz.lens(bartviz.load(name, roots=default_roots()), record, stack=stack)
    said = html.unescape(visits.words(page))
    assert analysis.sentence(one) in said
    assert ("DecoderLens" in said) == one.decodes
    assert "Why this word?" in [link.proto.label for link in page.get("page_link")]
    frame = next(table for table in tables(page) if "first choice" in table)
    shown = one.to_dataframe()["probability"].tolist()
    assert frame["probability"].tolist() == pytest.approx(shown, rel=1e-3, abs=1e-6)
