"""The tables and words of an attribution, by hand."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from bartviz.analysis.attribution import Attribution, Axis
from bartviz.analysis.attribution_methods import METHODS
from tests.support import stand_in

SOURCE = stand_in.tokens(("<s>", "a", "bc", "</s>"))  # "abc" is one word of two tokens
OUTPUT = stand_in.tokens(("x", "y", " z"))  # "xy" is one word, "z" another


def by_hand(method: str) -> Attribution:
    values = np.array([[0, 1, 2, 0], [0, 3, 4, 0], [0.5, 0, 0, 0.5]], np.float32)
    earlier = np.array([[1, 0, 0], [1, 2, 0], [3, 2, 1]], np.float32)
    return Attribution(
        "hand",
        METHODS[method],
        Axis.of(OUTPUT),
        np.arange(3),
        np.array([-1, -2, -4], np.float32),
        Axis.of(SOURCE),
        values,
        Axis.of(OUTPUT),
        earlier,
    )


def test_signed_numbers_of_pieces_add_up_to_words() -> None:
    found = by_hand("leave-one-out").words()
    assert found.steps.labels == ("xy", "z")
    assert found.source.labels == ("<s>", "abc", "</s>")
    np.testing.assert_array_equal(found.explained, [-3, -4])
    np.testing.assert_array_equal(found.values, [[0, 10, 0], [0.5, 0, 0.5]])
    np.testing.assert_array_equal(found.earlier_values, [[4, 0], [5, 1]])
    np.testing.assert_array_equal(found.rows, [0, 2])
    again = found.words()
    np.testing.assert_array_equal(again.values, found.values)
    assert again.steps == found.steps


def test_shares_of_pieces_are_averaged_over_a_written_word() -> None:
    found = by_hand("rollout").words()
    np.testing.assert_array_equal(found.values, [[0, 5, 0], [0.5, 0, 0.5]])
    np.testing.assert_array_equal(found.earlier_values, [[2, 0], [5, 1]])


def test_the_table_has_a_line_for_each_number() -> None:
    table = by_hand("rollout").to_dataframe()
    assert list(table.columns) == ["step", "token", "part", "position", "input", "value"]
    assert len(table) == 3 * 4 + 3 * 3
    assert table.iloc[8].tolist() == [1, "y", "source", 1, "a", 3.0]
    assert table.iloc[-1].tolist() == [2, "z", "output", 2, "z", 1.0]


def test_it_is_copied_with_read_only_numbers() -> None:
    found = by_hand("rollout")
    for one in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        np.testing.assert_array_equal(one.values, found.values)
        assert one.method == found.method
        with pytest.raises(ValueError, match="read-only"):
            one.values[0, 0] = 1


def test_its_repr_is_one_line() -> None:
    assert repr(by_hand("rollout")) == "<Attribution by rollout: 3 steps by 4 source tokens and 3 earlier outputs>"
