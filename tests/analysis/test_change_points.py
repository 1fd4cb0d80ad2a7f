"""Change points: the step of curves drawn by hand, none where nothing changes, and intervals that hold."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from bartviz.analysis.change_points import change_points, crossing
from bartviz.errors import SettingError

STEPS = np.array([0, 50, 80, 128, 205, 328, 524, 839, 1342, 2147, 3434, 5492, 8784, 14048, 22468, 36000])
TEXTS = 200
HEADS = 100  # of a simulated corpus: independent of each other, so each is a corpus of its own


def sigmoid(centre: float, width: float) -> NDArray[np.float64]:
    """(T,) a mean that rises from 0.1 to 0.7 about a step."""
    return np.asarray(0.1 + 0.6 / (1 + np.exp((np.log1p(centre) - np.log1p(STEPS)) / width)))


def drawn(rng: np.random.Generator, mean: NDArray[np.float64], noise: float) -> NDArray[np.float64]:
    """(T, N, C) values of texts around a mean: a text is easier or harder at all moments, and rises more or less."""
    level, rise = rng.normal(0, 0.15, (TEXTS, HEADS)), rng.gamma(4, 0.25, (TEXTS, HEADS))
    risen = (mean - mean[0])[:, None, None] * rise
    return np.asarray(mean[0] + risen + level + rng.normal(0, noise, (len(STEPS), TEXTS, HEADS)))


def test_the_step_is_where_half_of_the_change_is_passed_first() -> None:
    assert crossing([0.0, 1.0], [0, 99]).item() == pytest.approx(9.0)  # the root of 1 and 100, less 1
    assert crossing([0.0, 0.5, 1.0], [0, 10, 20]).item() == pytest.approx(10.0)
    assert crossing([0.0, 0.8, 0.2, 1.0], [0, 10, 20, 30]).item() < 10  # for the first time
    assert crossing([1.0, 0.6, 0.4, 0.0], [0, 10, 20, 30]).item() == pytest.approx(np.sqrt(11 * 21) - 1)  # falling
    assert np.isnan(crossing([0.3, 0.9, 0.3], [0, 10, 20])).all()  # ends where it began


@pytest.mark.parametrize(("centre", "width", "noise"), [(1600, 0.3, 0.2), (700, 0.8, 0.3), (300, 0.15, 0.1)])
def test_intervals_hold_a_planted_change_point(centre: float, width: float, noise: float) -> None:
    """In 93 to 97% of 2,000 corpora, whose share itself is known to 0.5%."""
    mean = sigmoid(centre, width)
    planted, rng = crossing(mean, STEPS).item(), np.random.default_rng(36)
    held = []
    for seed in range(20):
        found = change_points(drawn(rng, mean, noise), STEPS, resamples=300, seed=seed)
        assert (found.reason == "").all()
        held.append((found.low <= planted) & (planted <= found.high))
    assert 0.93 <= np.mean(held) <= 0.97
    assert abs(np.log1p(planted) - np.log1p(centre)) < 0.2  # the planted step is where the curve was put


def test_nothing_is_found_where_nothing_changes() -> None:
    rng = np.random.default_rng(1)
    flat = change_points(rng.normal(0.3, 0.2, (len(STEPS), TEXTS, HEADS)), STEPS, resamples=200)
    assert set(flat.reason) == {"it changes by less than 0.1"}
    assert np.isnan(flat.step).all()
    assert np.isnan(flat.low).all()
    # moments whose means creep upwards by noise alone: the change is there, and too small to count
    creeping = np.sort(rng.normal(0.3, 0.01, len(STEPS)))[:, None, None] + rng.normal(0, 0.2, (16, TEXTS, HEADS))
    assert not (change_points(creeping, STEPS, resamples=200).reason == "").any()
    # few texts that differ wildly: the change may be large, and its interval includes 0
    wild = change_points(rng.normal(0.5, 1.0, (len(STEPS), 12, 400)), STEPS, resamples=200)
    uncertain = wild.reason == "the interval of its change includes 0"
    assert (wild.change_low[uncertain] * wild.change_high[uncertain] <= 0).all()
    assert (wild.reason == "").mean() < 0.08  # 5% by the interval


def test_texts_without_a_value_do_not_count() -> None:
    rng = np.random.default_rng(2)
    values = drawn(rng, sigmoid(500, 0.3), 0.1)
    some = values.copy()
    some[3, :150] = np.nan  # unknown at one moment: left out at all
    found = change_points(some, STEPS, resamples=100)
    assert (found.n == 50).all()
    np.testing.assert_allclose(found.step, change_points(values[:, 150:], STEPS, resamples=100).step)
    none = change_points(np.full((3, 20, 1), np.nan), [0, 1, 2], resamples=10)
    assert none.reason.tolist() == ["fewer than 10 texts"]


def test_the_same_seed_gives_the_same_numbers_and_blocks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    values = drawn(np.random.default_rng(3), sigmoid(500, 0.3), 0.1)
    whole = change_points(values, STEPS, resamples=50, seed=7)
    for name, numbers in vars(change_points(values, STEPS, resamples=50, seed=7)).items():
        np.testing.assert_array_equal(numbers, getattr(whole, name))
    monkeypatch.setattr("bartviz.analysis.change_points._CELLS", 16 * 50 * 7)
    for name, numbers in vars(change_points(values, STEPS, resamples=50, seed=7)).items():
        if numbers.dtype.kind == "f":  # wide instructions sum a block in another order
            np.testing.assert_allclose(numbers, getattr(whole, name), rtol=1e-12, atol=1e-12)
        else:
            np.testing.assert_array_equal(numbers, getattr(whole, name))


def test_one_moment_is_refused() -> None:
    with pytest.raises(SettingError, match="two moments"):
        change_points(np.zeros((1, 20, 2)), [0])
