"""A and B side by side: what the link keeps of their canvases."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from bartviz.analysis.head_view import View
from bartviz.features.compare import parts_two_heads
from bartviz.features.compare.parts import Chosen
from bartviz.features.compare.parts_pins import Pin
from bartviz.record.attention import Head
from bartviz.record.record import Record
from tests.features.compare.test_page import canvases, opened
from tests.support import records


def test_several_rows_and_columns_of_each_are_in_the_link(record: Record) -> None:
    query: dict[str, Any] = {
        "a": "encoder L0H1",
        "b": "encoder L2H3",
        "chosen_row_a": ["2", "5", "99", "x"],
        "chosen_column_a": "3",
        "chosen_column_b": ["1", "4"],
    }
    app = opened(record, **query)
    begins = {letter: meta["begin"] for letter, meta in canvases(app).items()}
    assert (begins["A"]["rows"], begins["A"]["keys"]) == ([2, 5], [3])
    assert (begins["B"]["rows"], begins["B"]["keys"]) == ([], [1, 4])
    assert app.query_params["chosen_row_a"] == ["2", "5"]
    link: dict[str, Any] = {key: app.query_params[key] for key in query}
    assert {letter: meta["begin"] for letter, meta in canvases(opened(record, **link)).items()} == begins
    held = app.session_state["_canvas_compare_a"]
    held.latest = replace(held.latest, rows=(), keys=(0, 1))  # as the browser says it
    app.run()
    assert "chosen_row_a" not in app.query_params
    assert app.query_params["chosen_column_a"] == ["0", "1"]
    assert app.query_params["chosen_column_b"] == ["1", "4"]


def test_another_pin_begins_with_nothing_chosen(record: Record) -> None:
    app = opened(record, a="encoder L0H1", b="encoder L2H3", chosen_column_a="3")
    app.query_params["a"] = "encoder L1H1"
    app.run()
    assert canvases(app)["A"]["begin"]["head"] == 1
    assert canvases(app)["A"]["begin"]["layer"] == 1
    assert "chosen_column_a" not in app.query_params


def test_a_word_keeps_its_colour_beside_another_text() -> None:
    one = Pin("A", records.encoder_only(("<s>", " the", " cat", "</s>")), Head("encoder", 0, 0), False)
    two = Pin("B", records.encoder_only(("<s>", " cat", " sleeps", "</s>")), Head("encoder", 0, 0), True)
    chosen = SimpleNamespace(a=one, b=two)
    assert parts_two_heads._colors(cast("Chosen", chosen), one)[0] == (-1, 0, 1, -1)
    assert parts_two_heads._colors(cast("Chosen", chosen), two)[0] == (-1, 1, -1, -1)


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ("01234", ""),
        ("0123x", "Only “e” does not fit."),
        ("xx234", ""),  # “b” is a special token, and nothing is before “a”
        ("0xx34", "Only “c” does not fit."),
        ("01x3x", "Only “c” and “e” do not fit."),
        ("01xxx", ""),
    ],
)
def test_the_one_or_two_rows_that_do_not_fit_are_named(second: str, said: str) -> None:
    def view(columns: str) -> View:
        found = SimpleNamespace(
            weights=np.eye(7)[[6 if column == "x" else int(column) for column in columns]],
            has_choice=np.ones(5, bool),
            query_special=np.array([False, True, False, False, False]),
            query_labels=tuple("abcde"),
        )
        return cast("View", found)

    assert parts_two_heads._unfit(view("12345"), view(second)) == said
