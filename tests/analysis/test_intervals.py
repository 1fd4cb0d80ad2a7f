"""Intervals of means: how often they hold the mean of a population, of values as heads have them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from bartviz.analysis import intervals
from bartviz.analysis.corpus_measures import ALL

Doubles = NDArray[np.float64]
DRAWS = 4_000
SIZES = (2, 3, 5, 10, 30, 100)


def test_the_quantiles_are_those_of_students_distribution() -> None:
    """Its density is integrated here."""
    for free in (1, 2, 3, 5, 9, 10, 29, 30, 31, 60, 200):
        ends = np.tan(np.linspace(0, math.atan(float(intervals.student(np.array([free + 1]))[0])), 400_001))
        scale = math.exp(math.lgamma((free + 1) / 2) - math.lgamma(free / 2)) / math.sqrt(free * math.pi)
        density = scale * (1 + ends**2 / free) ** (-(free + 1) / 2)
        assert 2 * np.trapezoid(density, ends) == pytest.approx(0.95, abs=2e-5), free
    assert intervals.student(np.array([10**7]))[0] == pytest.approx(1.959964, abs=1e-5)
    assert np.isnan(intervals.student(np.array([0, 1]))).all()


def test_the_chance_of_a_t_is_the_area_beyond_it() -> None:
    """Its density is integrated here, over the arc tangent of t; few degrees of freedom and many, near 0 and far."""
    for free in (1.0, 1.5, 2.0, 5.0, 30.0, 1_000.0, 1e7):
        for t in (0.0, 0.1, 1.0, 1.7, 2.0, 5.0, 40.0):
            angles = np.linspace(math.atan(t / math.sqrt(free)), math.pi / 2, 400_001)
            scale = math.exp(math.lgamma((free + 1) / 2) - math.lgamma(free / 2)) / math.sqrt(math.pi)
            area = 2 * scale * np.trapezoid(np.cos(angles) ** (free - 1), angles)
            for sign in (-1, 1):
                found = intervals.chance(np.array([sign * t]), np.array([free]))[0]
                assert found == pytest.approx(area, rel=1e-3, abs=1e-7), (free, t)
    ends = intervals.chance(np.array([np.inf, np.nan, 2.0, 2.0]), np.array([5.0, 5.0, 0.0, np.nan]))
    assert ends[0] == 0
    assert np.isnan(ends[1:]).all()


def share(random: np.random.Generator, size: tuple[int, ...]) -> Doubles:
    """A share of weight that differs from text to text."""
    return random.beta(4, 3, size)


def lopsided(random: np.random.Generator, size: tuple[int, ...]) -> Doubles:
    """A share that is small in most texts."""
    return random.beta(1, 8, size)


def mostly_nothing(random: np.random.Generator, size: tuple[int, ...]) -> Doubles:
    """Nearly no weight on punctuation, but in one text of ten."""
    return np.where(random.random(size) < 0.1, random.beta(2, 2, size), 0.001)


def sharp(random: np.random.Generator, size: tuple[int, ...]) -> Doubles:
    """A head of one pattern: nearly 1 everywhere."""
    return random.beta(80, 2, size)


def rare(random: np.random.Generator, size: tuple[int, ...]) -> Doubles:
    """A word that stands twice: nearly all or nearly nothing."""
    return random.beta(0.35, 0.5, size)


def effect(random: np.random.Generator, size: tuple[int, ...]) -> Doubles:
    """What silencing a head changes: little, and much in some texts. As measured, the skewness is 3 to 10."""
    return 0.02 * random.lognormal(0, 1.3, size)


def ends(measure: str, values: Doubles) -> tuple[Doubles, Doubles]:
    """Of samples (S, n)."""
    samples, n = values.shape
    sd = values.std(axis=1, ddof=1)
    counts = np.full(samples, n)
    return intervals.of_means([ALL[measure]] * samples, counts, values.mean(axis=1), sd, values.max(axis=1))


@pytest.mark.some(6)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize(
    ("measure", "draw", "least"),
    [
        ("previous", share, 0.93),
        ("first", lopsided, 0.89),
        ("punctuation", mostly_nothing, 0.93),
        ("previous", sharp, 0.88),
        ("entropy", share, 0.93),
        ("same", rare, 0.93),
        ("silenced", effect, 0.90),
    ],
    ids=["share", "lopsided", "mostly nothing", "sharp", "unbounded", "rare", "effect"],
)
def test_the_mean_is_held_about_19_times_in_20(measure: str, draw: object, least: float, n: int) -> None:
    assert callable(draw)
    random = np.random.default_rng(n)
    mean = draw(random, (4_000_000,)).mean()
    low, high = ends(measure, draw(random, (DRAWS, n)))
    if measure == "silenced" and n < intervals.FEW:
        assert np.isnan(low).all()
        assert np.isnan(high).all()
        return
    held = ((low <= mean) & (mean <= high)).mean()
    assert least <= held <= 1.0
    if measure in {"previous", "entropy"} and draw is share:
        assert held <= 0.97
    top = ALL[measure].highest
    assert (low >= 0).all()
    assert top is None or (high <= top).all()


def test_one_value_has_no_interval() -> None:
    low, high = intervals.of_means(
        [ALL["previous"]] * 2, np.array([1, 0]), np.array([0.5, np.nan]), np.full(2, np.nan), np.array([0.5, np.nan])
    )
    assert np.isnan(low).all()
    assert np.isnan(high).all()


def test_an_interval_by_hand() -> None:
    """0.2, 0.4, 0.9: mean 0.5, sd 0.36056, t 4.3027: 0.5 ± 0.8957, which is more than a share can be."""
    (low,), (high,) = ends("previous", np.array([[0.2, 0.4, 0.9]]))
    assert (low, high) == (0.0, 1.0)
    (low,), (high,) = ends("entropy", np.array([[0.2, 0.4, 0.9]]))
    assert low == 0.0
    assert high == pytest.approx(0.5 + 4.3027 * 0.3605551 / math.sqrt(3), abs=1e-5)


@pytest.mark.parametrize("n", [2, 5, 30, 100])
def test_a_difference_of_two_samples_is_held(n: int) -> None:
    random = np.random.default_rng(n)
    one, other = share(random, (DRAWS, n)), lopsided(random, (DRAWS, n + 3))
    means = [(values.mean(axis=1), *ends("previous", values)) for values in (one, other)]
    low, high = intervals.of_difference(*means[0], *means[1])
    assert ((low <= 1 / 9 - 4 / 7) & (high >= 1 / 9 - 4 / 7)).mean() >= 0.93


def test_a_difference_of_many_texts_is_the_usual_one() -> None:
    one, other = np.random.default_rng(0).normal((0.5, 0.4), 0.1, (4_000, 2)).T
    means = [(values.mean(keepdims=True), *ends("previous", values[None])) for values in (one, other)]
    low, high = intervals.of_difference(*means[0], *means[1])
    half = 1.959964 * math.sqrt(one.var(ddof=1) / 4_000 + other.var(ddof=1) / 4_000)
    assert float(high[0] - low[0]) == pytest.approx(2 * half, rel=1e-3)
