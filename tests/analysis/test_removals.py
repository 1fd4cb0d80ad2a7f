"""Orders of words, and what is measured where they are taken away in them: by hand, and word by word."""

from __future__ import annotations

import numpy as np
import pytest

from bartviz.analysis import removals
from bartviz.analysis.intervals import Doubles
from bartviz.analysis.removals import MEASURES
from bartviz.arrays import Bools


def test_the_order_is_that_of_the_scores_and_equal_ones_are_in_any() -> None:
    random = np.random.default_rng(0)
    assert removals.order(np.array([0.1, 3.0, 2.0], np.float32), random).tolist() == [1, 2, 0]
    first = [removals.order(np.zeros(4, np.float32), random)[0] for _ in range(400)]
    assert (np.bincount(first, minlength=4) > 50).all()


def test_few_words_have_every_order_once() -> None:
    random = np.random.default_rng(0)
    orders = removals.random_orders(4, 24, random)
    assert len({tuple(row) for row in orders.tolist()}) == 24
    assert removals.random_orders(4, 23, random).shape == (23, 4)


@pytest.mark.parametrize("words", [3, 7, 30])
def test_measures_are_those_of_one_order_after_the_other(words: int) -> None:
    """A number that is the product of what each word keeps of it, for two explained tokens."""
    random = np.random.default_rng(words)
    keeps = random.random((2, words))
    orders = removals.random_orders(words, 5, random)

    def value(gone: list[int], token: int) -> float:
        return float(np.prod(keeps[token, gone]))

    asked = list[Bools]()

    def values_of(sets: Bools) -> Doubles:
        asked.extend(sets)
        gone = [np.flatnonzero(row).tolist() for row in sets]
        found: Doubles = np.zeros((len(sets), 2))
        found[:] = [[value(some, token) for token in range(2)] for some in gone]
        return found

    found = removals.measured(orders, values_of)
    assert len({row.tobytes() for row in asked}) == len(asked)
    firsts = [max(1, round(share * words)) for share in (0.1, 0.2, 0.5)]
    curve = sorted({int(np.ceil(k * words / min(words, 6))) for k in range(min(words, 6) + 1)})
    for place, order in enumerate(orders.tolist()):
        for token in range(2):
            lacking = 1 - np.mean([value(order[:k], token) for k in firsts])
            alone = 1 - np.mean([value(order[k:], token) for k in firsts])
            area = np.trapezoid([value(order[:k], token) for k in curve], np.array(curve) / words)
            mine = [found[measure][place, token] for measure in ("comprehensiveness", "sufficiency", "area")]
            np.testing.assert_allclose(mine, [lacking, alone, area])
    only = removals.measured(orders, values_of, ["area"])
    assert list(only) == ["area"]
    np.testing.assert_array_equal(only["area"], found["area"])


def test_the_word_that_matters_first_is_best_by_every_measure() -> None:
    orders = np.array([[0, 1, 2], [2, 1, 0]])
    found = removals.measured(orders, lambda sets: np.asarray(1.0 - sets[:, :1], np.float64))
    for measure, sign in MEASURES.items():
        assert sign * found[measure][0, 0] > sign * found[measure][1, 0]
