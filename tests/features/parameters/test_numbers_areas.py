"""The sizes of areas below headings, worked out by hand."""

from __future__ import annotations

import math

import pytest

from bartviz.features.parameters.numbers_areas import Tree, fields, lost, side, tree

COLUMNS = Tree("both", 30, (Tree("a", 10), Tree("b", 20)))
ROWS = Tree("all", 60, (COLUMNS, Tree("c", 30)))


def test_an_area_keeps_the_levels_that_are_asked_for() -> None:
    areas = [("all", "", 60), ("both", "all", 30), ("a", "both", 10), ("b", "both", 20), ("c", "all", 30)]
    assert tree(areas, "all", 3) == ROWS
    assert tree(areas, "all", 2) == Tree("all", 60, (Tree("both", 30), Tree("c", 30)))
    assert tree(areas, "both", 9) == COLUMNS


def test_names_below_each_other_add_up_and_names_beside_each_other_do_not() -> None:
    assert lost(Tree("a", 1), 100, 10, rows=True) == 0
    assert lost(COLUMNS, 100, 10, rows=False) == pytest.approx(10)
    assert lost(ROWS, 100, 10, rows=True) == pytest.approx(20)  # its own, and that of the columns
    beside = Tree("all", 90, (Tree("d", 45, (Tree("e", 15), Tree("f", 30))), Tree("g", 45, (Tree("h", 45),))))
    assert lost(beside, 100, 10, rows=False) == pytest.approx(20)  # its own, and that of both parts, in one line


def test_a_field_beside_one_with_a_name_is_higher_and_so_narrower() -> None:
    mixed = Tree("all", 20, (Tree("named", 10, (Tree("inside", 10),)), Tree("bare", 10)))
    found = fields(mixed, 110, 10, rows=False)  # 100 are left, of which the named one has 90
    assert found["bare"].high == pytest.approx(100)
    assert found["inside"].high == pytest.approx(90)
    widths = {id_: field.share * 10 for id_, field in found.items()}
    assert widths["inside"] * 90 == pytest.approx(widths["bare"] * 100)
    assert sum(widths.values()) == pytest.approx(1)


def test_a_part_gets_what_its_names_take() -> None:
    found = fields(ROWS, 100, 10, rows=True)  # 80 for 60
    assert found["c"].high == pytest.approx(40)
    assert found["a"].high == found["b"].high == pytest.approx(40)  # of 50, which is 50 / 90 of the whole
    assert found["c"].share * 30 == pytest.approx(40 / 90)
    assert found["b"].share * 20 == pytest.approx(50 / 90 * 20 / 30)


def test_names_without_room_lose_everything() -> None:
    assert lost(ROWS, 15, 10, rows=True) == math.inf
    assert lost(COLUMNS, 10, 10, rows=False) == math.inf


def test_the_side_of_a_picture_leaves_its_fields_their_share() -> None:
    assert side(Tree("a", 1), 100, 10, 0.25, rows=True) == pytest.approx(0.5)
    length = side(ROWS, 100, 10, 0.4, rows=True)
    assert length * (100 * length - 20) == pytest.approx(40)
    assert side(ROWS, 100, 10, 0.9, rows=True) == math.inf
