"""The positions of weights on the colour scales, by hand."""

from __future__ import annotations

import numpy as np

from bartviz.analysis.weight_scale import shares

WEIGHTS = np.array([[0.1, 0.9], [0.01, np.nan], [0.0, 0.0]], np.float32)


def test_fixed_is_the_weight_itself() -> None:
    assert shares(WEIGHTS, "fixed") is WEIGHTS


def test_row_divides_by_the_largest_that_is_not_masked() -> None:
    expected = np.array([[1 / 9, 1], [1, np.nan], [0, 0]])
    np.testing.assert_allclose(shares(WEIGHTS, "row"), expected, rtol=1e-6)


def test_powers_of_ten_end_at_a_ten_thousandth() -> None:
    found = shares(np.array([[1, 0.1, 1e-3, 1e-4, 1e-9, np.nan]], np.float32), "log")
    np.testing.assert_allclose(found, [[1, 0.75, 0.25, 0, 0, np.nan]], atol=1e-6)
    assert found.dtype == np.float32
