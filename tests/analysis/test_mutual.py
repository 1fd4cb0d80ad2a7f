"""Words that choose each other, by hand; NumPy and torch alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from bartviz.analysis import mutual
from bartviz.analysis.mutual import Mutual


@pytest.mark.parametrize("array", [np.asarray, torch.tensor])
@pytest.mark.parametrize(
    ("weights", "rows", "score"),
    [
        ([[1.0, 0.0], [0.0, 1.0]], None, 1.0),  # one to one
        ([[0.0, 1.0], [1.0, 0.0]], None, 1.0),
        ([[0.6, 0.4], [0.7, 0.3]], None, 0.35),  # both look at the first; only the second row is its choice
        ([[0.6, 0.4], [0.7, 0.3]], [True, False], 0.6),  # there is no second row
        ([[0.5, 0.5]], None, 0.5),
        ([[0.0, 0.0]], None, 0.0),
        ([[1.0]], [False], 0.0),
        ([], None, 0.0),
    ],
)
def test_the_score_is_the_weight_on_words_that_choose_each_other(
    array: Callable[[object], Any], weights: list[list[float]], rows: list[bool] | None, score: float
) -> None:
    given = array(weights)
    assert mutual.score(given, None if rows is None else array(rows)) == pytest.approx(score)


def test_words_that_are_not_there_choose_nothing() -> None:
    weights = torch.tensor([[0.2, 0.9], [0.3, 0.8]], dtype=torch.float64)
    found = Mutual.of(weights, torch.tensor([True, True]), torch.tensor([True, False]))
    assert found.chosen.tolist() == [0, 0]
    assert found.mutual.tolist() == [False, True]
    assert float(found.score) == pytest.approx(0.3 / 2)
    nothing = Mutual.of(weights, torch.tensor([True, True]), torch.tensor([False, False]))
    assert torch.isnan(nothing.score)
