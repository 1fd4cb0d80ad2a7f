"""The output layer on the decoding page: computed when it is opened, for the step of the player."""

from __future__ import annotations

from typing import Any

import pytest

import bartviz
from bartviz.experiments.output_layer import output_layer
from bartviz.models.roots import default_roots
from bartviz.record.record import Record
from bartviz.serving.engine import Engine
from tests.support import visits
from tests.support.pages import App, tables

pytestmark = pytest.mark.usefixtures("engine")


def of(name: str) -> Record:
    model = bartviz.load(name, roots=default_roots())
    return bartviz.capture(model, "The <b>cat</b> is sleeping.", target=None if "gpt2" in name else "Die Katze.")


def words(app: Any) -> str:
    assert not app.exception
    assert not app.error
    return visits.words(app)


def test_a_closed_section_runs_no_model(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Engine, "work", lambda *given, **more: pytest.fail("the model was asked"))
    assert "Self-check: the record's logits" not in words(app("decoding", record=of("small-bart")))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "step"), [("small-bart", 2), ("small-bart", 4), ("small-t5", 3), ("small-gpt2", 3)])
def test_the_step_of_the_player_is_shown(app: App, name: str, step: int) -> None:
    record = of(name)
    page = app("decoding", record=record, output_layer="true", step=str(step))
    said = words(page)
    one = output_layer(bartviz.load(name, roots=default_roots()), record, step - 1)
    assert f"Step {step}." in said
    assert f"multiplied with the embeddings of all {one.vocabulary} tokens" in said
    assert "(limit 4e-04): ok" in said
    frame = next(table for table in tables(page) if "state × row" in table)
    assert frame["logit"].tolist()[:-1] == pytest.approx(one.logits.tolist(), rel=1e-5)
    assert frame["probability"].sum() == pytest.approx(1)
