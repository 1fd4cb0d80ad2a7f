"""The residual sum on the page inside: computed when its tab is open, for the chosen layer and token."""

from __future__ import annotations

from typing import Any

import pytest

import bartviz
from bartviz.analysis import residual as analysis
from bartviz.analysis.residual import Stack
from bartviz.app.controls.columns import CELLS
from bartviz.experiments.residual import residual
from bartviz.models.roots import default_roots
from bartviz.serving.engine import Engine
from tests.support import visits
from tests.support.pages import App, tables

pytestmark = pytest.mark.usefixtures("engine")


def opened(app: App, name: str, **query: str) -> Any:
    record = bartviz.capture(
        bartviz.load(name, roots=default_roots()),
        "The <b>cat</b> is sleeping.",
        target="Die Katze." if name == "small-bart" else None,
        values=True,
    )
    page = app("inside", record=record, level="intermediate", **query)
    assert not page.exception
    assert not page.error
    return record, page


def test_another_tab_runs_no_model(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Engine, "work", lambda *given, **more: pytest.fail("the model was asked"))
    opened(app, "small-bart", around="norms")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kind", "stack"),
    [
        ("small-bart", "cross", "decoder"),
        ("small-bart", "encoder", "encoder"),
        ("small-bert", "encoder", "encoder"),
        ("small-gpt2", "decoder", "decoder"),
    ],
)
def test_the_chosen_layer_and_token_are_shown(app: App, name: str, kind: str, stack: Stack) -> None:
    record, page = opened(app, name, kind=kind, layer="1", row="2", around="residual")
    one = residual(bartviz.load(name, roots=default_roots()), record, stack, 1, 2)
    said = visits.words(page)
    assert "(limit 1e-04): ok" in said
    assert f"The cosine of before and after is {analysis.cosine(one.before, one.after):.2f}" in said
    frame = next(table for table in tables(page) if "cosine with before" in table)
    assert frame["length"].tolist() == pytest.approx(analysis.table(one)["length"].tolist(), rel=1e-4)


def test_every_vector_of_the_table_has_its_name_in_other_languages() -> None:
    assert {analysis.BEFORE, *analysis.ADDS.values(), *analysis.AFTER.values()} <= CELLS
