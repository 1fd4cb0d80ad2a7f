"""Means over texts: by hand, by simulation, and where neighbours are alike."""

from __future__ import annotations

import numpy as np
import pytest

from bartviz.analysis.intervals import student
from bartviz.analysis.means import BLOCK, LEAST_BLOCKS, Means, alike

COLUMNS = 2_000


def test_a_mean_is_tested_as_by_r() -> None:
    """t.test(c(1, 2, 4)) has t = 2.6458, p = 0.1181, interval from -1.4611 to 6.1278."""
    found = Means.of(np.array([[1.0, 0.0, np.nan], [2.0, 0.0, 3.0], [4.0, 0.0, np.nan]]))
    assert found.n.tolist() == [3, 3, 1]
    assert found.mean.tolist() == pytest.approx([7 / 3, 0, 3])
    assert found.t[0] == pytest.approx(2.6458, abs=1e-4)
    assert found.two_sided[0] == pytest.approx(0.1181, abs=1e-4)
    assert found.above[0] == pytest.approx(0.1181 / 2, abs=1e-4)
    assert [ends[0] for ends in found.ends] == pytest.approx([-1.4611, 6.1278], abs=1e-3)
    assert (found.two_sided[1], found.above[1]) == (1.0, 1.0)
    assert np.isnan([found.two_sided[2], found.above[2], found.sd[2]]).all()
    assert found.wider.tolist() == [1, 1, 1]


def test_equal_values_are_no_luck() -> None:
    found = Means.of(np.array([[2.0, -2.0, 0.0]] * 3))
    assert found.above.tolist() == [0, 1, 1]
    assert found.two_sided.tolist() == [0, 0, 1]


def test_the_upper_tail_of_noise_is_uniform() -> None:
    above = Means.of(np.random.default_rng(0).normal(size=(40, 4_000))).above
    for level in (0.01, 0.05, 0.5):
        assert np.mean(above <= level) == pytest.approx(level, abs=3 * np.sqrt(level / 4_000))


@pytest.mark.parametrize(("repeated", "least", "most"), [(1, 0.93, 0.985), (20, 0.88, 0.97)])
def test_intervals_hold_the_mean_of_independent_texts_and_of_texts_that_repeat(
    repeated: int, least: float, most: float
) -> None:
    texts = 2_100
    values = np.random.default_rng(0).normal(0, 1, (texts // repeated, COLUMNS)).repeat(repeated, axis=0)
    found = Means.of(values, np.arange(texts))
    low, high = found.ends
    assert least <= ((low <= 0) & (high >= 0)).mean() <= most
    assert ((low > 0) | (high < 0)).tolist() == (found.two_sided < 0.05).tolist()
    assert (found.above < 0.025).tolist() == (low > 0).tolist()
    assert alike(found.wider) == (1 if repeated == 1 else pytest.approx(20**0.5, rel=0.25))


def test_a_half_by_lot_is_widened_by_the_blocks_of_the_whole() -> None:
    """Each text twenty times, of which half are drawn: the others are missing, but blocks are those of the corpus."""
    random = np.random.default_rng(0)
    values = random.normal(0, 1, (210, COLUMNS)).repeat(20, axis=0)
    drawn = np.flatnonzero(random.random(len(values)) < 0.5)
    found = Means.of(values[drawn], drawn)
    low, high = found.ends
    assert 0.88 <= ((low <= 0) & (high >= 0)).mean() <= 0.98


def test_few_blocks_say_nothing() -> None:
    values = np.random.default_rng(0).normal(0, 1, (BLOCK, COLUMNS)).repeat(LEAST_BLOCKS, axis=0)
    assert (Means.of(values, np.arange(len(values))).wider == 1).all()
    more = np.concatenate([values, values[:1]])
    assert np.median(Means.of(more, np.arange(len(more))).wider) > 3


def test_the_width_is_that_of_the_error_and_its_degrees_of_freedom() -> None:
    """64 blocks of equal values, 63 of them next to another one: 2 * 63² / (3 * 63 - 1) = 42.2 degrees of freedom."""
    values = np.random.default_rng(0).normal(0, 1, (64, 5)).repeat(BLOCK, axis=0)
    found = Means.of(values, np.arange(len(values)))
    steps = np.diff(values[::BLOCK] * BLOCK, axis=0)
    error = np.sqrt((steps**2).sum(axis=0) / (2 * 63) * 64) / len(values)
    assert found.error == pytest.approx(error, rel=2e-3)
    assert found.ends[1] - found.mean == pytest.approx(student(np.array([43.0])) * error, rel=2e-3)
