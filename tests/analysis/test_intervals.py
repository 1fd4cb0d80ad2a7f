"""Intervals of means: how often they hold the mean of a population, of values as heads have them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

import bartviz
from bartviz.analysis import intervals
from bartviz.analysis.corpus_measures import ALL
from tests.analysis.interval_coverage import DISTRIBUTIONS, SIZES, drawn, ends, measured
from tests.support.process import ROOT

Doubles = NDArray[np.float64]
DRAWS = 4_000


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


HELD = (0.93, 0.97)
FEW_DRAWS = 4_000  # of which the share is known to 0.7 points, twice its standard error
ROUND = 0.01


@pytest.mark.some(8)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_the_mean_is_held_in_95_of_100_draws(name: str, n: int) -> None:
    """Near an end, where a few texts make most of a mean, in more: there the interval counts texts that it has not
    seen."""
    share = drawn(name, n, FEW_DRAWS)
    if name == "silenced":
        assert math.isnan(share) if n < intervals.FEW else share >= 0.9
    elif name in {"shares near 1", "shares of nearly all"} or name.startswith("nothing, but"):
        assert share >= HELD[0] - ROUND / 2
    else:
        assert HELD[0] - ROUND / 2 <= share <= HELD[1] + ROUND / 2


def test_the_document_has_what_is_drawn() -> None:
    rows = (ROOT / "docs" / "statistics.md").read_text("utf-8").splitlines()
    for name in DISTRIBUTIONS:
        told = next(row for row in rows if row.startswith(f"| {name} |")).split("|")[2:-1]
        assert len(told) == len(SIZES)
        for n, cell in zip(SIZES[1::3], told[1::3], strict=True):
            share = drawn(name, n, FEW_DRAWS)
            assert float(cell.strip() or "nan") / 100 == pytest.approx(share, abs=ROUND, nan_ok=True), (name, n)


@pytest.mark.slow
def test_the_mean_is_held_of_values_that_were_measured() -> None:
    """Of the heads of a shipped model over sentences that it was not trained on, each measure by itself."""
    lines = (ROOT / "training" / "data" / "everyday.txt").read_text("utf-8").splitlines()
    texts = [line.split(" | ")[0] for line in lines if " | " in line]
    atlas = bartviz.corpus(texts, bartviz.load("bert-tiny-en"), values=True)
    for n in (5, 30, 100):
        found: dict[str, list[float]] = {}
        for measure, share in measured(atlas, n, 200):
            found.setdefault(measure, []).append(share)
        assert len(found) >= 12
        for measure, shares in found.items():
            assert np.mean(shares) >= 0.9, (measure, n)  # of 120 texts one may be far from all others
            assert np.median(shares) >= HELD[0] - ROUND, (measure, n)
            assert ALL[measure].rare or np.median(shares) <= HELD[1] + ROUND, (measure, n)


@pytest.mark.parametrize("measure", ["previous", "same", "entropy"])
def test_the_ends_are_within_what_a_measure_can_be(measure: str) -> None:
    random = np.random.default_rng(0)
    for values in (
        random.beta(0.1, 0.1, (500, 4)),
        np.zeros((2, 3)),
        np.ones((2, 3)),
        1 - random.beta(1, 1e7, (50, 3)),
    ):
        low, high = ends(measure, values)
        mean = values.mean(axis=1)
        assert ((low >= 0) & (low <= mean + 1e-12) & (mean <= high + 1e-12)).all()
        assert ALL[measure].highest is None or (high <= 1).all()


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
    assert high == pytest.approx(0.5 * math.exp(4.3027 * 0.3605551 / math.sqrt(3) / 0.5), rel=1e-4)


def test_the_interval_of_a_share_near_1_by_hand() -> None:
    """0.9, 0.95, 0.97, 0.98: mean 0.95, sd 0.03559, t 3.1824: 0.95 ± 0.0566, and log odds of 2.944 ± 1.192."""
    (low,), (high,) = ends("previous", np.array([[0.9, 0.95, 0.97, 0.98]]))
    assert low == pytest.approx(1 / (1 + math.exp(-2.9444 + 1.1924)), abs=2e-4)
    assert high == 1.0


def test_the_interval_of_what_no_text_has_counts_half_a_text_at_each_end() -> None:
    """30 texts of 0: as if of 31 with a sum of 0.5: mean 0.01613, variance (0.5 - 31 * 0.01613²) / 30, t 2.0452."""
    for ends_of, end in ((np.zeros, 0.0), (np.ones, 1.0)):
        (low,), (high,) = ends("previous", ends_of((1, 30)))
        half = 2.0452 * math.sqrt((0.5 - 0.25 / 31) / 30) / math.sqrt(31)
        far = 0.5 / 31 + half
        assert (low, high) == pytest.approx((0.0, far) if end == 0 else (1 - far, 1.0), abs=1e-4)


@pytest.mark.parametrize("n", [2, 5, 30, 100])
def test_a_difference_of_two_samples_is_held(n: int) -> None:
    random = np.random.default_rng(n)
    one, other = random.beta(4, 3, (DRAWS, n)), random.beta(1, 8, (DRAWS, n + 3))
    means = [(values.mean(axis=1), *ends("previous", values)) for values in (one, other)]
    low, high = intervals.of_difference(*means[0], *means[1])
    assert ((low <= 1 / 9 - 4 / 7) & (high >= 1 / 9 - 4 / 7)).mean() >= 0.93


def test_a_difference_of_many_texts_is_the_usual_one() -> None:
    one, other = np.random.default_rng(0).normal((0.5, 0.4), 0.1, (4_000, 2)).T
    means = [(values.mean(keepdims=True), *ends("previous", values[None])) for values in (one, other)]
    low, high = intervals.of_difference(*means[0], *means[1])
    half = 1.959964 * math.sqrt(one.var(ddof=1) / 4_000 + other.var(ddof=1) / 4_000)
    assert float(high[0] - low[0]) == pytest.approx(2 * half, rel=1e-3)
