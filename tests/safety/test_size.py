"""Bytes of values: numbers that can be worked out from their arrays and texts."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from bartviz.safety.size import size

ARRAY = np.zeros(1_000, np.float64)


@dataclass(frozen=True)
class Named:
    name: str
    values: np.ndarray[tuple[int], np.dtype[np.float64]]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (ARRAY, 8_000),
        ("a" * 5_000, 5_000),
        ("가" * 5_000, 10_000),
        (b"a" * 5_000, 5_000),
        ([ARRAY, ARRAY.copy()], 16_000),
        ((ARRAY, {"a": "b" * 4_000}), 12_000),
        ({"a" * 3_000: {"b": ARRAY}}, 11_000),
        (frozenset({"a" * 5_000, "b" * 6_000}), 11_000),
        (Named("a" * 2_000, ARRAY), 10_000),
        ([float(number) for number in range(1_000)], 32_000),  # a float and the pointer to it
        (pd.DataFrame({"a": ARRAY, "b": ARRAY}), 16_000),
    ],
    ids=lambda value: type(value).__name__,
)
def test_size_is_that_of_all_parts(value: object, expected: int) -> None:
    assert expected <= size(value) <= expected + 1_000


def test_an_object_that_appears_twice_counts_once() -> None:
    assert size([ARRAY] * 10) < 9_000
    circle: list[object] = ["a" * 5_000]
    circle.append(circle)
    assert 5_000 <= size(circle) < 6_000


@pytest.mark.parametrize("value", [None, True, 7, 0.5, range(10**9), ""])
def test_a_plain_value_is_as_large_as_python_reports(value: object) -> None:
    assert size(value) == sys.getsizeof(value)
