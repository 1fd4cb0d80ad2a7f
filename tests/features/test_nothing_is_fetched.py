"""No page downloads the model that a record or an address names: a visitor is asked by a button."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button

from bartviz.app import streamlit_internals
from bartviz.app.frame.page_list import PAGES
from bartviz.app.state import session
from bartviz.record.record import Record
from bartviz.serving.engine import Engine, Run
from bartviz.serving.limits import Limits
from tests.support import hub_server, stand_in
from tests.support.hub_server import Hub
from tests.support.pages import App
from tests.support.visits import opened

NAME = "facebook/bart-base"
ASK = f"Download {NAME}"
OTHERS = (PAGES[0].word, "textbook")  # the first is a page of the second test; the other runs what ships alone
RUNS: list[Run[Any]] = []


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub that has nothing, and a server of its own engine."""
    engine, begun = Engine(Limits()), Engine._begun
    RUNS.clear()

    def noted(self: Engine, *given: Any) -> Run[Any]:
        RUNS.append(begun(self, *given))
        return RUNS[-1]

    monkeypatch.setattr(Engine, "_begun", noted)
    monkeypatch.setattr(session, "engine", lambda: engine)
    monkeypatch.setattr(streamlit_internals, "is_alive", lambda _session: True)
    with hub_server.running() as running:
        for name, value in hub_server.settings(running, tmp_path / "cache").items():
            monkeypatch.setenv(name, value)
        for variable in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
            monkeypatch.delenv(variable, raising=False)
        yield running


def foreign(record: Record) -> Record:
    """The record as another's, of a model of the hub."""
    return replace(record, model=replace(record.model, name=NAME, source="hub"))


def labels(page: AppTest) -> list[str]:
    return [button.label.replace("\\", "") for button in page.button]


def press(page: AppTest, label: str) -> Button:
    return next(button for button in page.button if button.label.replace("\\", "") == label).click()


def settled(page: AppTest) -> AppTest:
    """The page once every run of it has ended."""
    assert all(run.wait(60) for run in RUNS)
    return page.run()


@pytest.mark.some("heads", "compare", "corpus", "denoising", "experiments", "pitfalls")
@pytest.mark.slow
@pytest.mark.parametrize("word", [page.word for page in PAGES if page.word not in OTHERS])
def test_a_record_fetches_no_model(hub: Hub, word: str) -> None:
    page = settled(opened(word, foreign(stand_in.record()), level="expert"))
    assert not page.exception
    assert hub.requests == []


def test_a_page_that_needs_the_model_of_a_record_asks_for_it(hub: Hub) -> None:
    page = settled(opened("experiments", foreign(stand_in.record())))
    assert ASK in labels(page)
    assert hub.requests == []
    settled(press(page, ASK).run())
    assert hub.requests != []


def test_an_address_asks_before_its_model_is_fetched(app: App, hub: Hub) -> None:
    page = app("start", model=NAME, text="Hello.")
    page = settled(page)
    assert ASK in labels(page)
    assert hub.requests == []
    page = settled(press(page, "Run").run())  # the address has named the model, not the visitor
    assert hub.requests == []
    settled(press(page, ASK).run())
    assert hub.requests != []


def test_a_model_that_the_visitor_names_is_fetched_without_another_question(app: App, hub: Hub) -> None:
    page = app("start")
    page.selectbox(key="model").set_value(NAME).run()
    settled(press(page, "Run").run())
    assert hub.requests != []
