"""Pickers: values from a link or an earlier record are clamped to the record's shape."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from bartviz.analysis import start
from bartviz.record.record import Record
from tests.support import stand_in

ROOT = Path(__file__).parents[3]
NUMBERS = {"index", "switch", "slider", "toggle", "number_input"}  # what is carried from page to page as a number


def script() -> None:
    import streamlit as st

    from bartviz.app.controls import pick

    record = st.session_state["given"]
    kind = pick.kind(record)
    st.session_state["picked"] = (
        kind,
        pick.layer(record, kind),
        pick.head(record, kind),
        pick.row(record, kind, record.attention(kind).shape[2]),
        pick.reading(),
        pick.by_words(),
    )


def drawn(record: Record, **query: str) -> AppTest:
    page = AppTest.from_function(script, default_timeout=120)
    page.session_state["given"] = record
    for name, value in query.items():
        page.query_params[name] = value
    page.run()
    assert not page.exception
    return page


def picked(page: AppTest) -> tuple[object, ...]:
    assert not page.exception
    value: tuple[object, ...] = page.session_state["picked"]
    return value


def test_the_defaults_are_those_of_the_start_page(record: Record) -> None:
    head, row = start.head_of(record, "cross"), start.row_of(record, "cross")
    assert picked(drawn(record)) == ("cross", head.layer, head.head, row, "predicts", False)


def test_a_link_restores_what_was_picked(record: Record) -> None:
    page = drawn(record, kind="Cross", layer="2", head="3", row="8", words="true", reading="token it reads")
    assert picked(page) == ("cross", 2, 3, 8, "reads", True)


@pytest.mark.parametrize("value", ["-1", "99", "abc", "1e9", "", "nan", "1.5", "x" * 5000])
def test_a_value_that_is_not_there_becomes_one_that_is(record: Record, value: str) -> None:
    kind, layer, head, row, reading, _ = picked(
        drawn(record, kind=value, layer=value, head=value, row=value, reading=value)
    )
    assert kind in record.kinds
    first = start.head_of(record, "cross")
    assert (layer, head, row) in {
        (first.layer, first.head, start.row_of(record, "cross")),
        (1, 1, 1),  # 1.5 may be read as 1
    }
    assert reading == "predicts"


def test_a_smaller_record_takes_the_nearest_that_it_has(record: Record) -> None:
    page = drawn(record, kind="Cross", layer="2", head="3")
    page.session_state["given"] = stand_in.record(layers=2, heads=2)
    assert picked(page.run())[:3] == ("cross", 1, 1)
    page.session_state["given"] = stand_in.record(kind="encoder", layers=1, heads=1)
    assert picked(page.run())[:3] == ("encoder", 0, 0)
    page.session_state["given"] = record
    assert picked(page.run())[:3] == ("cross", 1, 1)  # each kind has its own


def test_what_is_moved_is_not_set_by_the_run_that_it_starts(record: Record) -> None:
    """A value that a run sets again undoes what the visitor presses meanwhile; the browser itself writes the link."""
    page = drawn(record)
    page.slider(key="layer").set_value(2).run()
    assert picked(page)[1] == 2
    assert not page.slider(key="layer").proto.set_value


def folded() -> None:
    import streamlit as st

    from bartviz.app.controls import pick
    from bartviz.app.state import url_state

    st.button("third", key="third", on_click=url_state.put_number, args=("layer", 3))
    popover, shown = pick.popover("Where", key="where")
    with popover:
        st.session_state["picked"] = pick.index("Layer", 5, key="layer", shown=shown)


def test_a_closed_field_does_not_undo_what_a_button_chose() -> None:
    """The browser sends with each request what a closed field had when it was last on the screen."""
    page = AppTest.from_function(folded, default_timeout=120).run()
    assert page.session_state["picked"] == 0
    page.button(key="third").click().run()
    assert page.session_state["picked"] == 3
    page.slider(key="layer").set_value(1).run()
    assert page.session_state["picked"] == 3
    page.session_state["where"] = True
    page.slider(key="layer").set_value(1).run()  # opened: the request still has the old value
    assert page.session_state["picked"] == 3
    page.slider(key="layer").set_value(1).run()  # by the visitor
    assert page.session_state["picked"] == 1
    assert not page.exception


@pytest.mark.slow
def test_a_number_of_one_page_never_sets_a_number_of_another_page() -> None:
    """A seed must not come back as a switch, nor a share as one of other ends: a shared key is the same picker."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for file in sorted([*(ROOT / "bartviz" / "app").rglob("*.py"), *(ROOT / "bartviz" / "features").rglob("*.py")]):
        for call in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
                for word in call.keywords:
                    if word.arg == "key" and isinstance(word.value, ast.Constant):
                        found[str(word.value.value)].append((call.func.attr, file.name))
    for key, places in found.items():
        kinds = {kind for kind, _ in places}
        if kinds & NUMBERS:
            assert kinds == {"index"} or len(places) == 1, (key, places)
