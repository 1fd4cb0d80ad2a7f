"""The key of a value: equal content, equal key; and nothing whose content is not seen has one."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bartviz.analysis import masks
from bartviz.analysis.costs import Costs
from bartviz.app.state import content
from tests.support import stand_in

PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
VALUES = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=12
)


@dataclass(frozen=True)
class Frozen:
    """An answer as ours are: it holds what it says."""

    name: str
    values: np.ndarray[Any, Any]


@dataclass
class Open:
    """One that may change."""

    values: list[int]


@pytest.mark.slow
@given(VALUES, VALUES)
def test_equal_content_equal_key_and_another_another(one: object, other: object) -> None:
    assert content.key(one) == content.key(one)
    assert (content.key(one) == content.key(other)) == (repr(one) == repr(other))  # 0, 0.0 and False are three


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (["a", "b"], ["ab"]),
        (["a", ["b"]], [["a"], "b"]),
        (("a",), ["a"]),
        ({"a": 1}, {"a": 2}),
        ("1", 1),
        (np.zeros(4), np.zeros((2, 2))),
        (np.zeros(4, np.int64), np.zeros(4)),
        (np.array(["ab", "c"], object), np.array(["a", "bc"], object)),
        (np.float32(1), np.float64(1)),
        (Frozen("a", np.zeros(2)), Frozen("a", np.ones(2))),
        (pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"a": [1, 3]})),
        (pd.DataFrame({"a": [1]}, index=[0]), pd.DataFrame({"a": [1]}, index=[1])),
        (partial(masks.notice), partial(masks.shape)),
        (partial(masks.quote, "a"), partial(masks.quote, "b")),
        (partial(masks.row_sentence, row=1), partial(masks.row_sentence, row=2)),
        (Costs("facebook/bart-base"), Costs("t5-small")),
    ],
)
def test_what_is_another_thing_has_another_key(one: object, other: object) -> None:
    assert content.key(one) == content.key(one)
    assert content.key(one) != content.key(other)


def test_a_copy_has_the_same_key() -> None:
    one, other = stand_in.record(), stand_in.record()
    assert one is not other
    assert content.key(one) == content.key(other)
    for kind in one.kinds:
        assert content.key(one.attention(kind)) == content.key(other.attention(kind))
    weights = one.attention("cross").head(0, 0)
    assert content.key(weights) == content.key(np.asfortranarray(weights))


def test_a_large_array_that_records_share_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    shared = np.zeros((content.LARGE // 8 + 1,))
    shared.flags.writeable = False
    one = content.key(Frozen("a", shared))
    monkeypatch.delattr(np, "ascontiguousarray")  # what arrays are read with
    assert content.key(Frozen("a", shared)) == one
    assert content.key(Frozen("b", shared)) != one


def test_one_number_makes_another_record() -> None:
    record = stand_in.record()
    attention = record.attention("cross")
    q = attention.queries.copy()
    q[-1, -1, -1, -1] += 1e-6
    assert content.key(record) != content.key(replace(record, cross=replace(attention, q=q)))
    assert content.key(record) != content.key(replace(record, source_text=f"{record.source_text} "))


def test_what_may_change_is_read_each_time() -> None:
    array = np.zeros(content.LARGE)
    before = content.key(array)
    array[-1] = 1
    assert content.key(array) != before
    value = Open([1])
    before = content.key(value)
    value.values.append(2)
    assert content.key(value) != before


def test_keys_of_deleted_objects_are_dropped() -> None:
    gc.collect()
    before = len(content._KNOWN)
    for number in range(50):
        content.key(Frozen("a", np.full(3, number)))
    gc.collect()
    assert len(content._KNOWN) == before


def holder() -> Callable[[], int]:
    held = 3
    return lambda: held


@pytest.mark.parametrize("value", [object(), lambda: 1, holder(), iter([1]), partial(holder()), {"a": [object()]}])
def test_what_is_not_seen_has_no_key(value: object) -> None:
    with pytest.raises(TypeError):
        content.key(value)
