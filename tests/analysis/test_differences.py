"""Which heads differ between two records of the same text."""

from __future__ import annotations

import numpy as np
import pytest

import bartviz
from bartviz.errors import SettingError
from tests.support import stand_in

TOKENS = ["we", "sleep"]
SELF = [[1.0, 0.0], [0.0, 1.0]]


def test_heads_are_ranked_by_the_distance_of_their_rows() -> None:
    swapped, even = [[1.0, 0.0], [1.0, 0.0]], [[0.5, 0.5], [0.5, 0.5]]
    one = bartviz.from_attentions(encoder=np.array([[SELF, SELF, SELF]]), tokens=TOKENS)
    other = bartviz.from_attentions(encoder=np.array([[SELF, swapped, even]]), tokens=TOKENS)
    table = bartviz.differences(one, other)
    assert table["head"].tolist() == [2, 1, 0]
    # a row (1, 0) against (0.5, 0.5), in bits: (KL to the mean (0.75, 0.25) of both) / 2, and its root
    near = np.sqrt((np.log2(4 / 3) + 0.5 * np.log2(2 / 3) + 0.5 * np.log2(2)) / 2)
    np.testing.assert_allclose(table.distance, [near, 0.5, 0.0], atol=1e-6)
    assert tuple(table.iloc[1])[4:] == (1, "sleep", 1.0)


def test_all_kinds_of_a_record_are_equal_to_themselves() -> None:
    record = stand_in.record()
    table = bartviz.differences(record, record)
    assert set(table["kind"]) == {"encoder", "decoder", "cross"}
    assert len(table) == sum(int(np.prod(record.attention(kind).shape[:2])) for kind in record.kinds)
    assert not table.distance.any()


def test_records_of_other_tokens_or_heads_are_refused() -> None:
    one = bartviz.from_attentions(encoder=np.array([[SELF]]), tokens=TOKENS)
    with pytest.raises(SettingError, match="other tokens"):
        bartviz.differences(one, bartviz.from_attentions(encoder=np.array([[SELF]]), tokens=["we", "eat"]))
    with pytest.raises(SettingError, match="same shape"):
        bartviz.differences(one, bartviz.from_attentions(encoder=np.array([[SELF, SELF]]), tokens=TOKENS))
    with pytest.raises(SettingError, match="no kind"):
        bartviz.differences(one, bartviz.from_attentions(decoder=np.array([[SELF]]), tokens=TOKENS))
