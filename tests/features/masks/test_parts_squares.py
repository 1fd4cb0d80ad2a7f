"""The arithmetic of the squares in the browser."""

from __future__ import annotations

from pathlib import Path

from bartviz.analysis import start, word_colors
from bartviz.features.masks import parts_squares
from bartviz.record.record import Record
from tests.support import node


def test_the_arithmetic_of_the_browser() -> None:
    node.run_tests(Path(__file__).with_name("squares.test.mjs"))


def test_rows_and_columns_have_the_colours_of_their_words(record: Record) -> None:
    attention, ribbons = record.attention("cross"), start.ribbons(record)
    colors = word_colors.of(record).sides("cross")
    square = parts_squares.square(attention, "cross", query=record.output, colors=colors)
    assert len(square["row_colors"]) == len(square["rows"])
    assert len(square["column_colors"]) == len(square["columns"])
    assert start.pairs(ribbons)
    for t, s in start.pairs(ribbons):
        assert square["row_colors"][ribbons.below[t].start] == square["column_colors"][ribbons.above[s].start]
    assert parts_squares.square(attention, "cross")["row_colors"] == []
