"""A link that chooses something on another page leads there with a way back, and no other link does."""

from __future__ import annotations

from urllib.parse import parse_qs

import pytest
from streamlit.testing.v1 import AppTest

from bartviz.app.frame import page_list
from tests.support.pages import App


def back(page: AppTest) -> list[str]:
    """The pages to which the line under the title leads back."""
    return [link.proto.page for link in page.get("page_link") if link.proto.label.startswith("Back to ")]


@pytest.mark.parametrize(("word", "origin"), [("heads", "corpus"), ("inside", "heads"), ("compare", "inside")])
def test_a_page_leads_back_to_the_page_that_led_to_it(app: App, word: str, origin: str) -> None:
    if not (page_list.has(word) and page_list.has(origin)):
        pytest.skip(f"there is no page {word} or {origin}")
    assert back(app(word, **{"from": origin})) == [origin]


@pytest.mark.parametrize("query", [{}, {"from": "heads"}, {"from": "nothing"}, {"from": ""}])
def test_a_page_to_which_no_other_led_has_no_way_back(app: App, query: dict[str, str]) -> None:
    if not page_list.has("heads"):
        pytest.skip("there is no page heads")
    assert back(app("heads", **query)) == []


def test_links_that_choose_something_on_another_page_say_where_they_are(app: App) -> None:
    if not page_list.has("inside"):
        pytest.skip("there is no page inside")
    page = app("inside", kind="cross", layer="2", head="3", row="4")
    for link in page.get("page_link"):
        assert parse_qs(link.proto.query_string).get("from") == (["inside"] if link.proto.query_string else None)
