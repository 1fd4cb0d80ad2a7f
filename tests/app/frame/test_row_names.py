"""Rows are named by what they predict, on every page, until an expert or a link switches."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from bartviz.app.frame import page_list
from bartviz.record.record import Record
from bartviz.serving import saved_records as records
from tests.support.pages import App

PAGES = [page for page in ("heads", "alignment", "masks") if page_list.has(page)]


def switch(test: AppTest) -> list[object]:
    assert not test.exception
    return [group.value for group in test.button_group if group.key == "reading"]


@pytest.fixture(scope="module")
def translated() -> Record:
    return records.read("start")


@pytest.mark.parametrize("page", PAGES)
def test_only_experts_see_the_switch(app: App, translated: Record, page: str) -> None:
    for level, shown in (("beginner", []), ("intermediate", []), ("expert", ["predicts"])):
        assert switch(app(page, record=translated, level=level)) == shown


@pytest.mark.parametrize("page", PAGES)
def test_a_link_to_the_other_names_can_be_undone(app: App, translated: Record, page: str) -> None:
    test = app(page, record=translated, level="beginner", reading="reads")
    assert switch(test) == ["reads"]
    test.button_group(key="reading").set_value("predicts").run()
    assert switch(test.run()) == []


def test_what_an_expert_chose_stays_on_the_next_page(app: App, translated: Record) -> None:
    test = app(PAGES[0], record=translated, level="expert")
    test.button_group(key="reading").set_value("reads").run()
    for page in PAGES[1:]:
        test.query_params.clear()
        assert switch(test.switch_page(f"pages/{page}.py").run()) == ["reads"]
