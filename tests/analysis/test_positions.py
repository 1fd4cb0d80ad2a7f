"""Positions with numbers that can be checked by hand, then for any size."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bartviz.analysis import positions
from bartviz.errors import SettingError


def test_the_encoding_of_the_paper() -> None:
    table = positions.sinusoidal(3, 4)
    np.testing.assert_allclose(table[0], [0, 1, 0, 1])
    np.testing.assert_allclose(table[2], [np.sin(2), np.cos(2), np.sin(0.02), np.cos(0.02)])


@pytest.mark.slow
@given(width=st.integers(1, 40), shift=st.integers(-30, 30), rows=st.integers(31, 60))
def test_a_shift_of_sines_is_one_rotation_for_all_positions(width: int, shift: int, rows: int) -> None:
    table = positions.sinusoidal(rows, 2 * width)
    turn = positions.rotation(2 * width, shift)
    np.testing.assert_allclose(turn @ turn.T, np.eye(2 * width), atol=1e-12)
    first, then = (table[:-shift], table[shift:]) if shift > 0 else (table[-shift:], table[: rows + shift])
    np.testing.assert_allclose(first @ turn, then, atol=1e-12)


def test_an_odd_width_has_no_rotation() -> None:
    with pytest.raises(SettingError, match="even width"):
        positions.rotation(3, 1)


def test_a_line_is_shifted_exactly_and_noise_is_not() -> None:
    line = np.arange(32.0)[:, None] * np.array([[1.0, 2.0]])
    found = positions.shift(line)
    assert found.shifts.tolist() == list(range(1, 9))
    assert found.held.max() < 1e-9
    assert found.exact.max() < 1e-12
    noise = positions.shift(np.random.default_rng(0).normal(size=(64, 128)))
    assert noise.seen.max() < 1e-9  # as many dimensions as positions: a perfect fit ...
    assert noise.held.min() > 0.8  # ... that means nothing
    assert "no better" in positions.shift_sentence(noise) or "better than nothing" in positions.shift_sentence(noise)
    with pytest.raises(SettingError, match="at least 8"):
        positions.shift(line[:7])


def test_similarities_are_cosines() -> None:
    found = positions.similarity(np.array([[2.0, 0], [0, 3], [-1, 0], [0, 0]]))
    assert found.tolist() == [[1, 0, -1, 0], [0, 1, 0, 0], [-1, 0, 1, 0], [0, 0, 0, 0]]


def test_a_bias_by_distance() -> None:
    bias = np.array([[[5, 7], [3, 5]]], float)
    steps, values = positions.distances(bias)
    assert steps.tolist() == [-1, 0, 1]
    assert values.tolist() == [[3, 5, 7]]
