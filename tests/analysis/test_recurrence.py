"""Path lengths and counts of a recurrent network, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from bartviz.analysis import recurrence as analysis
from tests.support import stand_in

_ = np.nan


def test_in_a_text_a_token_is_handed_on_once_for_each_word() -> None:
    one = analysis.recurrence(stand_in.record(kind="encoder"))
    assert one.recurrent[:3, :3].tolist() == [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    assert one.attention[:3, :3].tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    assert one.longest == len(one.columns) - 1


def test_a_decoder_knows_only_what_came_before() -> None:
    one = analysis.recurrence(stand_in.record(kind="decoder"))
    np.testing.assert_array_equal(one.recurrent[:3, :3], [[0, _, _], [1, 0, _], [2, 1, 0]])
    np.testing.assert_array_equal(one.attention[:3, :3], [[0, _, _], [1, 0, _], [1, 1, 0]])


def test_between_two_texts_everything_passes_through_one_vector() -> None:
    one = analysis.recurrence(stand_in.record())
    n, m = len(one.columns), len(one.rows)
    # The last source token is one step from the first word; the first has to pass all others before.
    assert one.recurrent[0, n - 1] == 1
    assert one.recurrent[0, 0] == n
    assert one.recurrent[m - 1, 0] == one.longest == n + m - 1
    assert (one.attention == 1).all()


def test_the_table_counts_by_formula() -> None:
    record = stand_in.record()  # 9 source tokens, 9 rows, width 32
    frame = analysis.table(analysis.recurrence(record))
    found = {name: numbers for name, *numbers in frame.itertuples(index=False)}
    n, m, d = 9, len(record.rows("cross")), 32
    assert found[analysis.STEPS] == [n + m, 1]
    assert found[analysis.CARRIED] == [32, 288]
    assert found[analysis.EACH] == pytest.approx([32 / 9, 32])
    assert found[analysis.COUNTED] == [2 * n * d * d, 4 * n * d * d + 2 * n * n * d]
    assert f"{n} tokens into one vector of {d} numbers" in analysis.sentence(analysis.recurrence(record))
