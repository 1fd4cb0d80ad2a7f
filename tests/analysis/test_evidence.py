"""What a head needs to pass."""

from __future__ import annotations

import numpy as np
import pytest

from bartviz.analysis.evidence import Evidence


def evidence(share: float, even: float, shuffled: float, n: int = 200) -> Evidence:
    noise = np.random.default_rng(0).normal(0, 0.05, (n, 1))
    values = [np.full((n, 1), one) for one in (even, shuffled, share - shuffled)]
    return Evidence.of(share + noise, values[0], values[1], values[2] + noise, rate=0.01, least=0.5)


@pytest.mark.parametrize(
    ("share", "even", "shuffled", "passes"),
    [
        (0.9, 0.1, 0.1, True),
        (0.9, 0.1, np.nan, True),  # all rows look for the same: only even attention is compared
        (0.9, 0.1, 0.5, True),
        (0.6, 0.1, 0.55, False),  # it looks there whatever the row is
        (0.6, 0.5, 0.1, False),  # so does even attention
        (0.3, 0.1, 0.1, False),  # too little to be what the head does
    ],
)
def test_a_head_passes_that_looks_there_and_nowhere_else(
    share: float, even: float, shuffled: float, passes: bool
) -> None:
    assert evidence(share, even, shuffled).passes.tolist() == [passes]


def test_one_text_shows_nothing() -> None:
    found = evidence(0.9, 0.1, 0.1, n=1)
    assert np.isnan(found.p).all()
    assert not found.passes.any()


def test_a_head_that_one_of_twenty_alike_texts_shows_does_not_pass() -> None:
    """105 texts, each 20 times in a row: of 1,000 heads with exactly the least share few pass."""
    random = np.random.default_rng(0)
    share = (0.5 + random.normal(0, 0.1, (105, 1_000))).repeat(20, axis=0)
    rest = np.full_like(share, 0.1), np.full_like(share, np.nan), np.full_like(share, np.nan)
    passing = [
        Evidence.of(share, *rest, rate=0.01, least=0.5, texts=texts).passes.mean()
        for texts in (None, np.arange(len(share)))
    ]
    assert passing[0] > 0.2
    assert passing[1] < 0.06
