"""One head, one row: every page opens with those of the start page, and shows those that a visitor chose on another."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import bartviz
from bartviz.analysis import start
from bartviz.app.frame import page_list
from bartviz.record.attention import Head
from bartviz.record.record import Record
from bartviz.serving import saved_records as records
from tests.support.pages import App
from tests.support.visits import words

TEXTS = (
    ("bart-tiny-en-de", "Yesterday my sister bought two very old books."),
    ("bart-tiny-denoise", "garden. the in play children The"),
    ("bert-tiny-en", "The cat [MASK] on the sofa."),
    ("bert-tiny-en", "My brother wants to sell his old house."),
)


@cache
def model(name: str) -> Any:
    return bartviz.load(name)


def head_of(test: AppTest, page: str) -> Head:
    """The head that a page shows, by its pickers."""
    assert not test.exception
    if page == "compare":
        return Head.parse(str(test.selectbox(key="a").value))
    kind = test.button_group(key="kind").value if page in ("heads", "inside") else "cross"
    return Head.parse(f"{kind} L{test.slider(key='layer').value}H{test.slider(key='head').value}")


def row_of(test: AppTest) -> int:
    return int(str(test.slider(key="row").value))


def squares(test: AppTest) -> int:
    """The row that is framed on the page Masks."""
    (found,) = [part for part in test.get("bidi_component") if part.proto.component_name == "bartviz.squares"]
    row: int = json.loads(found.proto.bytes)["row"]
    return row


def player(test: AppTest) -> dict[str, Any]:
    """What the player of the page Decoding was told."""
    assert not test.exception
    (found,) = [part for part in test.get("bidi_component") if part.proto.component_name == "bartviz.player"]
    meta: dict[str, Any] = json.loads(found.proto.mixed.json)["meta"]
    return meta


def to(test: AppTest, page: str, **query: str) -> AppTest:
    """Open a page by the menu, or by a link."""
    test.query_params.clear()
    test.query_params.update(query)
    test.switch_page(f"pages/{page}.py").run()
    assert not test.exception
    return test


def assert_pages_open_with_the_same(app: App, record: Record) -> None:
    head, row = start.ribbons(record).head, start.row_of(record, start.kind_of(record))
    for page in filter(page_list.has, ("heads", "inside", "compare")):
        test = app(page, record=record)
        assert (page, head_of(test, page), row_of(test)) == (page, head, row)
    if page_list.has("masks"):
        test = app("masks", record=record, view="weights")
        assert (test.slider(key="layer").value, test.slider(key="head").value) == (head.layer, head.head)
        assert squares(test) == row
    if record.steps and page_list.has("decoding"):
        for level in ("beginner", "intermediate"):
            assert player(app("decoding", record=record, level=level))["weights"] == str(head)
    if record.cross is not None and page_list.has("alignment"):
        assert f"Cross {head.short} links" in words(app("alignment", record=record))
        assert head_of(app("alignment", record=record, align="head"), "alignment") == head


@pytest.mark.parametrize("name", records.NAMES)
def test_every_page_opens_with_the_head_and_row_of_the_start_page(app: App, name: str) -> None:
    assert_pages_open_with_the_same(app, records.read(name))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "text"), TEXTS)
def test_so_it_is_with_any_text(app: App, name: str, text: str) -> None:
    record = bartviz.capture(model(name), text, allow_special="[MASK]" in text)
    assert_pages_open_with_the_same(app, record)


def test_a_head_that_was_chosen_is_the_head_of_the_next_pages(app: App) -> None:
    test = app("heads", record=records.read("start"))
    test.slider(key="layer").set_value(1).run()
    test.slider(key="head").set_value(2).run()
    for page in ("inside", "compare", "alignment", "heads"):
        assert head_of(to(test, page), page) == Head("cross", 1, 2)
    assert player(to(test, "decoding"))["weights"] == "cross L1H2"
    to(test, "compare")
    test.selectbox(key="a").set_value("cross L0H5").run()
    for page in ("alignment", "inside", "compare"):
        assert head_of(to(test, page), page) == Head("cross", 0, 5)
    test.selectbox(key="a").set_value("cross L2H0").run()
    assert head_of(to(test, "heads"), "heads") == Head("cross", 2, 0)


def test_each_kind_has_a_head_of_its_own(app: App) -> None:
    record = records.read("start")
    test = app("heads", record=record)
    test.slider(key="layer").set_value(1).run()
    test.button_group(key="kind").set_value("encoder").run()
    assert head_of(test, "heads") == start.head_of(record, "encoder")
    assert row_of(test) == start.row_of(record, "encoder")
    test.slider(key="head").set_value(0).run()
    encoder = head_of(test, "heads")
    test.button_group(key="kind").set_value("cross").run()
    assert head_of(test, "heads") == Head("cross", 1, start.head_of(record, "cross").head)
    assert head_of(to(test, "inside", kind="encoder"), "inside") == encoder
    to(test, "models")
    assert head_of(to(test, "inside", kind="encoder", layer="3", head="3"), "inside") == Head("encoder", 3, 3)
    assert player(to(test, "decoding"))["weights"] == str(Head("cross", 1, start.head_of(record, "cross").head))


def test_a_word_that_was_chosen_is_the_word_of_the_next_pages(app: App) -> None:
    record = records.read("start")
    test = app("heads", record=record)
    test.slider(key="row").set_value(2).run()
    for page in ("inside", "compare"):
        assert row_of(to(test, page)) == 2
    assert squares(to(test, "masks")) == 2
    assert record.steps[player(to(test, "decoding"))["start"]].row == 2
    to(test, "models")
    to(test, "decoding", step="5")
    assert row_of(to(test, "heads")) == record.steps[4].row
    test.button_group(key="kind").set_value("decoder").run()
    assert row_of(test) == record.steps[4].row  # its rows are the same words


def test_a_word_in_pieces_stays_when_pieces_are_merged(app: App) -> None:
    record = records.read("given")
    (first,) = {word.start for word in start.ribbons(record).below if word.text == "kaufen"}
    test = app("heads", record=record, row=str(first))
    test.toggle(key="words").set_value(True).run()
    assert test.slider(key="row").max < len(record.rows("cross")) - 1 or row_of(test) == first
    assert row_of(to(test, "inside")) == first


def test_a_new_text_begins_with_its_own_word(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    first, other = records.read("start"), records.read("given")
    test = app("heads", record=first)
    test.slider(key="row").set_value(0).run()
    test.session_state["_record"] = other
    assert row_of(test.run()) == start.row_of(other, "cross")
    test.session_state["_record"] = first
    assert row_of(test.run()) == 0
