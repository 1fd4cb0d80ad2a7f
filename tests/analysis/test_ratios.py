"""The interval of a ratio of sums: by hand, and how often it holds the true ratio of simulated corpora."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from bartviz.analysis.ratios import of_ratios

Doubles = NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, int]], tuple[Doubles, Doubles]]
DRAWS = 3_000


def interval(x: Doubles, y: Doubles) -> tuple[Doubles, Doubles, Doubles]:
    """Of texts in the last axis."""
    return of_ratios(*(one.sum(axis=-1) for one in (x, x * x, x * y, y, y * y)))


def test_it_is_what_a_person_computes() -> None:
    ratio, low, high = interval(np.array([1.0, 3.0, 2.0, 2.0]), np.ones(4))
    # equal texts: the mean of 1, 3, 2, 2, whose deviations are -1, 1, 0, 0; t is 3.1824 with 3 degrees of freedom
    wide = np.exp(3.1824 * np.sqrt(2) / 8 * 4 / 3)
    np.testing.assert_allclose([ratio, low, high], [2, 2 / wide, 2 * wide])


def test_a_single_text_and_a_total_of_0_have_no_interval() -> None:
    for x in (np.array([3.0]), np.zeros(5)):
        ratio, low, high = interval(x, np.ones(len(x)))
        assert ratio == x.mean()
        assert np.isnan([low, high]).all()
    assert np.isnan(interval(np.array([]), np.array([]))[0])


def often(random: np.random.Generator, shape: tuple[int, int]) -> tuple[Doubles, Doubles]:
    """A token that is in a text once to three times, and gets about three times what it would, at most everything."""
    y = random.integers(1, 4, shape) / random.integers(5, 20, shape)
    return np.minimum(3 * y * np.exp(random.normal(0, 0.5, shape)), 1), y


def sometimes(random: np.random.Generator, shape: tuple[int, int]) -> tuple[Doubles, Doubles]:
    """One that a head looks at in a third of its texts."""
    y = random.integers(1, 3, shape) / random.integers(4, 60, shape)
    little, much = 0.2 * random.beta(1, 20, shape), random.beta(2, 2, shape)
    return np.where(random.random(shape) < 1 / 3, much, little), y


def gives(random: np.random.Generator, shape: tuple[int, int]) -> tuple[Doubles, Doubles]:
    """The weight that one to three rows give away."""
    y = random.integers(1, 4, shape).astype(np.float64)
    return y * random.beta(1, 3, shape), y


@pytest.mark.parametrize("draw", [often, sometimes, gives])
@pytest.mark.parametrize("texts", [20, 50, 300])
def test_it_holds_the_ratio_in_93_to_97_percent_of_draws(draw: Draw, texts: int) -> None:
    random = np.random.default_rng(texts)
    x, y = draw(random, (1_000, 2_000))
    true = x.sum() / y.sum()
    _, low, high = interval(*draw(random, (DRAWS, texts)))
    assert 0.93 <= ((low <= true) & (true <= high)).mean() <= 0.97
