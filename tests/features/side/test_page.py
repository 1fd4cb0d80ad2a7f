"""The same text in both models: the visitor's own run on its side, the other computed, and a map of each."""

from __future__ import annotations

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from bartviz.app.controls import tasks
from bartviz.families.family import ModelKind
from bartviz.features.side import parts
from bartviz.record.record import Record
from tests.support import stand_in, visits
from tests.support.pages import App

OTHERS: dict[ModelKind, ModelKind] = {"encoder": "encoder-decoder", "encoder-decoder": "encoder"}


def squares(page: AppTest) -> list[list[str]]:
    """The kinds of attention whose masks are drawn, by side."""
    drawn = [html.proto.body for html in page.get("html") if "<div class='bv-mask-squares'>" in html.proto.body]
    return [[kind for kind in ("encoder", "decoder", "cross") if f"data-kind='{kind}'" in body] for body in drawn]


def made(kind: ModelKind) -> Record:
    record = stand_in.record(kind=kind)
    return replace(record, model=replace(record.model, name=parts.MODELS[kind]))


@pytest.mark.parametrize("own", OTHERS)
def test_the_other_model_reads_the_same_text(app: App, own: ModelKind, monkeypatch: pytest.MonkeyPatch) -> None:
    record, asked = made(own), []

    def ask(_name: str, model: str, key: dict[str, object], *_: object) -> Record:
        asked.append((model, key["text"]))
        return made(OTHERS[own])

    monkeypatch.setattr(tasks, "ask", ask)
    page = app("side", record=record)
    assert not page.exception
    assert asked == [(parts.MODELS[OTHERS[own]], record.source_text)]
    assert [name for name in parts.MODELS.values() if f"{name}</h3>" in visits.words(page)] == list(
        parts.MODELS.values()
    )
    assert squares(page) == [["encoder"], ["encoder", "decoder", "cross"]]
    assert "The head that every page shows first is " in visits.words(page)
    page.selectbox(key="left").select_index(2).run()
    assert not page.exception
    assert page.session_state["left"] == "encoder L0H2"


def test_until_the_other_is_there_one_side_is_shown(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "ask", lambda *_: None)
    page = app("side", record=made("encoder"))
    assert not page.exception
    assert squares(page) == [["encoder"]]
    assert "The head that every page shows first" not in visits.words(page)


def test_models_that_read_other_words_are_shown_without_a_comparison(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "ask", lambda *_: stand_in.record(source=["<s>", "Other", " words", " here", "</s>"]))
    page = app("side", record=made("encoder"))
    assert not page.exception
    assert "They do not read the same words here" in visits.words(page)
    assert len(squares(page)) == 2
