"""Read-only results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pytest

from bartviz.analysis.readonly import Brief, array_bytes, freeze
from bartviz.arrays import Floats


@dataclass(frozen=True)
class Result:
    one: Floats
    more: Mapping[str, Floats]
    name: str = "name"

    def __post_init__(self) -> None:
        freeze(self)


def test_arrays_and_mappings_of_a_result_cannot_be_written() -> None:
    result = Result(np.zeros(3, np.float32), {"a": np.zeros(2, np.float32)})
    for array in (result.one, result.more["a"]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(TypeError):
        result.more["b"] = result.one  # type: ignore[index]


def test_bytes_of_arrays_alone() -> None:
    assert array_bytes(Result(np.zeros(3, np.float32), {"a": np.zeros(2, np.float32)})) == 4 * 5


@dataclass(frozen=True, repr=False)
class Many(Brief):
    names: tuple[str, ...]
    weights: Floats
    by_kind: Mapping[str, Floats]
    factor: float


def test_a_result_with_many_numbers_has_a_repr_of_one_line() -> None:
    many = Many(("a", "b", "c", "d"), np.zeros((400, 300), np.float32), {"cross": np.zeros(2, np.float32)}, 0.5)
    assert repr(many) == (
        "<Many: names=(a, b, c, ... 4 in all), weights=float32[400, 300], by_kind={cross: float32[2]}, factor=0.5>"
    )
