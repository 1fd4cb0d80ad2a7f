"""Ranks, tests and corrections: by hand, by all signs, and how often they are wrong."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from bartviz.analysis import verdicts
from bartviz.analysis.verdicts import ALIKE, BETTER, WORSE


def test_ranks_by_hand() -> None:
    random = np.array([[0.0, 1.0, 2.0, 3.0]] * 3)
    np.testing.assert_allclose(verdicts.ranks(np.array([9.0, 2.0, -1.0]), random), [0.5, 0.125, -0.5])


def test_a_rank_among_four_orders_is_at_best_a_half() -> None:
    random = np.array([0.0, 1.0, 2.0])
    assert verdicts.rank_test(3.0, random) == 0.5
    assert verdicts.rank_test(1.5, random) == 1.0
    assert verdicts.rank_test(-1.0, random) == 0.5


def test_holms_levels_by_hand() -> None:
    """Of 0.01, 0.02, 0.03 and 0.04: four times the first, three times the second, and none below the one before."""
    found = verdicts.holm(np.array([0.04, 0.01, 0.03, 0.02]))
    np.testing.assert_allclose(found, [0.06, 0.04, 0.06, 0.06])
    np.testing.assert_allclose(verdicts.holm(np.array([0.9, 0.8])), [1.0, 1.0])


def test_a_sign_test_is_that_of_all_signs() -> None:
    random = np.random.default_rng(0)
    signs = np.array(list(product([-1, 1], repeat=10)))
    values = random.normal([[0.0], [0.3], [0.6]], 1, (3, 10))
    exact = (np.abs(values @ signs.T) >= np.abs(values.sum(axis=1, keepdims=True)) - 1e-9).mean(axis=1)
    np.testing.assert_allclose(verdicts.sign_test(values), exact, atol=0.015)


def test_a_correction_is_the_definition() -> None:
    """The lowest rate at which the k smallest probabilities are discoveries: p(k) C / k, of the best k that has it."""
    p = np.random.default_rng(0).random(40) ** 2
    ordered = np.sort(p)
    for own, rate in zip(p, verdicts.adjusted(p), strict=True):
        assert rate == pytest.approx(min(1.0, *(ordered[k] * 40 / (k + 1) for k in range(40) if ordered[k] >= own)))
    np.testing.assert_allclose(verdicts.adjusted(np.array([0.03, 0.01])), [0.03, 0.02])


def test_a_verdict_has_the_sign_of_the_rank_where_it_is_sure() -> None:
    assert verdicts.verdict(0.3, 0.05) == BETTER
    assert verdicts.verdict(-0.3, 0.05) == WORSE
    assert verdicts.verdict(0.3, 0.051) == verdicts.verdict(0.3, np.nan) == ALIKE


def test_random_orders_are_told_from_random_orders_in_one_case_of_twenty() -> None:
    random = np.random.default_rng(1)
    numbers = random.normal(size=(400, 30, 21))  # 400 times of 30 texts: one order and 20 others
    found = verdicts.sign_test(np.array([verdicts.ranks(one[:, 0], one[:, 1:]) for one in numbers])) <= 0.05
    assert 0.02 < found.mean() < 0.09
