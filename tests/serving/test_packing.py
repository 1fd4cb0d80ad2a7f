"""A result arrives as it was sent, and its arrays of numbers are read-only."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
import pytest

from bartviz.serving.packing import packed, unpacked


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint16", "bool", "complex64", "float16", "U3", ">f4"])
@pytest.mark.parametrize("shape", [(), (0,), (2, 3), (2, 0, 3)])
def test_an_array_arrives_equal_and_read_only(dtype: str, shape: tuple[int, ...]) -> None:
    sent = np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
    arrived = unpacked(packed(sent))
    assert arrived.dtype == sent.dtype
    assert arrived.shape == sent.shape
    assert (arrived == sent).all()
    assert not arrived.flags.writeable


def test_views_that_are_not_contiguous_arrive_equal() -> None:
    sent = np.arange(24.0).reshape(2, 3, 4)
    for view in (sent.transpose(2, 0, 1), sent[:, ::-1], np.broadcast_to(sent[0, 0], (5, 4))):
        assert (unpacked(packed(view)) == view).all()


def test_other_arrays_arrive_as_python_sends_them() -> None:
    fields = np.array([(1, 2.5)], dtype=[("layer", "i4"), ("weight", "f8")])
    assert unpacked(packed(fields))["weight"][0] == 2.5
    masked = np.ma.MaskedArray([1.0, 2.0], mask=[False, True])
    assert unpacked(packed(masked)).mask.tolist() == [False, True]
    assert unpacked(packed(np.array([None, "a"], dtype=object))).tolist() == [None, "a"]


def test_a_read_only_mapping_stays_one() -> None:
    arrived = unpacked(packed({"heads": MappingProxyType({"a": np.ones(2)})}))
    assert isinstance(arrived["heads"], MappingProxyType)
    assert not arrived["heads"]["a"].flags.writeable
