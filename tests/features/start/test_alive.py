"""The model at hand as a download: what is offered, what is refused, and that the file is the model's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bartviz.errors import ModelError
from bartviz.explorer.engine import supported
from bartviz.families.registry import FAMILIES
from bartviz.features.start import parts_alive as alive
from bartviz.language import speaking
from bartviz.record.record import Record
from bartviz.serving.engine import Engine
from bartviz.serving.limits import Limits
from tests.support.pages import App
from tests.support.visits import words

NAME = "bert-tiny-en"


def of(record: Record, name: str = NAME, **facts: Any) -> Record:
    return replace(record, model=replace(record.model, name=name, **facts))


def test_a_model_that_is_here_is_offered_and_one_that_is_not_is_left_out(app: App, record: Record) -> None:
    labels = [button.proto.label for button in app(record=of(record)).get("download_button")]
    assert labels[-1].startswith("Live page (about ")
    labels = [button.proto.label for button in app(record=of(record, "somebody/else")).get("download_button")]
    assert labels[-1] == "Save to open again"


def test_a_model_that_is_too_large_is_refused_with_a_command(app: App, record: Record) -> None:
    page = app(record=of(record, parameters=406_000_000))
    assert "bartviz alive bert-tiny-en site" in words(page)
    assert not [button for button in page.get("download_button") if "Live" in button.proto.label]
    with speaking("ko"):
        assert "bartviz alive bert-tiny-en site" in str(alive.refusal(of(record, parameters=406_000_000).model))


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_a_family_is_refused_for_what_the_engine_does_not_compute(name: str, record: Record) -> None:
    family = FAMILIES[name]
    found = list(supported.reasons(family, "gelu"))
    assert bool(found) == (
        family.positions not in ("learned", "sinusoidal")
        or family.parallel
        or family.norm not in ("post", "pre")
        or bool(family.state_scale or family.logits_changed or family.residual_scale)
    )


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody waits for the file."""
    monkeypatch.setattr("bartviz.app.streamlit_internals.is_alive", lambda session: True)


@pytest.mark.usefixtures("here")
def test_the_file_is_a_page_of_the_model() -> None:
    engine = Engine(Limits.read())
    made = alive._made(engine, "nobody", NAME, False, "en")
    assert made.startswith(b"<!doctype html>")
    assert b'id="model-0"' in made
    assert b"<title>bert-tiny-en</title>" in made


@pytest.mark.usefixtures("here")
def test_what_cannot_be_made_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> bytes:
        raise ModelError("It cannot run in a page.")

    monkeypatch.setattr("bartviz.features.start.run_alive.page", refuse)
    with pytest.raises(ModelError, match="cannot run in a page"):
        alive._made(Engine(Limits.read()), "nobody", NAME, False, "en")
