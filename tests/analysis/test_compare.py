"""The table of all heads, the filter, and the sentence."""

from __future__ import annotations

import numpy as np
import pytest

from bartviz.analysis import compare, head_names
from bartviz.analysis.distance import distances
from bartviz.analysis.measures import Measured, measures, of_record
from bartviz.errors import SettingError
from tests.analysis.test_measures import head
from tests.support import records

BEFORE = measures(head(np.eye(6, k=-1) + np.eye(6) * (np.arange(6) == 0)))


def test_one_line_a_head_with_every_measure() -> None:
    record = records.encoder_decoder()
    measured = of_record(record, "cross")
    to_a = distances(record.attention("cross"), 0, 1)
    table = compare.table(measured, to_a=to_a)
    assert list(table["head"][:5]) == ["cross L0H0", "cross L0H1", "cross L0H2", "cross L0H3", "cross L1H0"]
    assert set(measured.values) <= set(table.columns)
    line = table.set_index("head").loc["cross L1H2"]
    for name in ("entropy", "peak", "alignment"):
        assert line[name] == pytest.approx(measured.values[name][1, 2])
    assert table[compare.TO_A][1] == 0


def test_a_name_is_shown_with_its_score() -> None:
    table = compare.table(BEFORE)
    assert table["name"][0] == "previous token"
    assert table["score"][0] == pytest.approx(1)
    unnamed = compare.table(BEFORE, threshold=1.01)
    assert unnamed["name"][0] == head_names.UNNAMED
    assert np.isnan(unnamed["score"][0])


def test_the_filter_keeps_values_in_between_and_nothing_undefined() -> None:
    values = {"same": np.array([[0.25, 0.5, np.nan]], np.float32)}
    measured = Measured("encoder", (1, 3), values, {"same": 0.1}, {"same": 3})
    same = compare.field(measured, "same")
    np.testing.assert_array_equal(same.within(0.1, 0.4), [[True, False, False]])
    assert same.bounds == (0.25, 0.5)


def test_the_sentences_count_heads_with_a_habit_and_say_who_has_none() -> None:
    said = (
        "The one encoder head does mainly one thing in this text. L0H0 looks at the token before (with 100% of "
        "its attention)."
    )
    assert compare.notice(BEFORE) == said
    assert compare.notice(BEFORE, percents=False) == said.replace("100%", "1.00")
    assert compare.notice(BEFORE, threshold=1.01) == "The one encoder head has no clear habit in this text."


def test_colours_end_at_the_highest_possible_value_or_at_the_largest() -> None:
    assert compare.field(BEFORE, "previous").top == 1
    assert compare.field(BEFORE, "distance").top == pytest.approx(1)
    assert compare.field(BEFORE, "distance").label == "mean distance (tokens)"


def test_an_unknown_measure_is_answered_with_those_that_there_are() -> None:
    with pytest.raises(SettingError, match="choose entropy, evenness"):
        compare.field(BEFORE, "alignment")
    with pytest.raises(SettingError):
        compare.field(BEFORE, compare.TO_A)
    assert compare.field(BEFORE, compare.TO_A, to_a=np.zeros((1, 1), np.float32)).top == 1


def test_arrays_can_be_saved_with_their_names() -> None:
    arrays = compare.arrays(BEFORE)
    names = arrays["measures"].tolist()
    assert arrays["rows"][names.index("previous")] == BEFORE.rows["previous"] == 4
    assert arrays["previous"].shape == (1, 1)
