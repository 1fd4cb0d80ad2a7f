"""Masks drawn by hand: their shapes, their text in an address, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from bartviz.analysis import drawn_mask
from bartviz.arrays import Bools
from bartviz.errors import SettingError
from bartviz.record.attention import Attention
from tests.support import stand_in


def of(rows: int, columns: int) -> Attention:
    """An attention of that shape; which one does not matter."""
    axes = (stand_in.tokens([f"t{i}" for i in range(count)]) for count in (rows, columns))
    return stand_in.attention("cross", *axes, layers=1, heads=1)


@given(arrays.arrays(np.bool_, st.tuples(st.integers(1, 9), st.integers(1, 9))))
def test_mask_in_an_address_comes_back_if_every_row_sees_something(mask: Bools) -> None:
    found = drawn_mask.unpacked(drawn_mask.packed(mask), of(*mask.shape))
    assert (found is None) is not bool(mask.any(axis=1).all())
    assert found is None or np.array_equal(found, mask)


@pytest.mark.parametrize("text", ["", "x", "eJw", "Ä", "A" * 4000, drawn_mask.packed(np.ones((9, 9), np.bool_))])
def test_other_texts_in_an_address_are_no_mask(text: str) -> None:
    assert drawn_mask.unpacked(text, of(3, 3)) is None


@pytest.mark.parametrize("name", drawn_mask.STARTS)
@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (5, 2), (2, 7)])
def test_every_row_of_a_mask_to_begin_with_sees_something(name: str, shape: tuple[int, int]) -> None:
    one = of(*shape)
    assert drawn_mask.checked(drawn_mask.start(name, one), one).any(axis=1).all()


def test_masks_to_begin_with_are_what_they_are_called() -> None:
    one = of(3, 3)
    assert drawn_mask.start("causal", one).astype(int).tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert drawn_mask.start("window", one).astype(int).tolist() == [[1, 0, 0], [1, 1, 0], [0, 1, 1]]
    assert drawn_mask.start("padding", one).astype(int).tolist() == [[1, 1, 0]] * 3
    assert drawn_mask.start("own", one).tolist() == one.mask.tolist()


def test_mask_of_another_shape_and_a_row_that_sees_nothing_are_refused() -> None:
    with pytest.raises(SettingError, match="3 rows and 2 columns"):
        drawn_mask.checked(np.ones((2, 3), np.bool_), of(3, 2))
    blind = np.ones((3, 2), np.bool_)
    blind[1] = False
    with pytest.raises(SettingError, match="Row 1 sees nothing"):
        drawn_mask.checked(blind, of(3, 2))
