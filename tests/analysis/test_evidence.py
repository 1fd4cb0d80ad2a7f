"""p by tables and by simulation, the false-discovery rate by its definition, and what a head needs to pass."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bartviz.analysis.evidence import Evidence, benjamini_hochberg, student_tail, upper_tail


@pytest.mark.parametrize(
    ("t", "free", "tail"),
    [  # quantiles as they are printed in tables
        (6.3138, 1, 0.05), (12.7062, 1, 0.025), (2.0150, 5, 0.05), (3.3649, 5, 0.01), (1.8125, 10, 0.05),
        (2.7638, 10, 0.01), (1.6973, 30, 0.05), (1.6577, 120, 0.05), (1.64487, 100_000, 0.05), (0.0, 7, 0.5),
    ],
)  # fmt: skip
def test_the_tail_of_students_t_is_that_of_tables(t: float, free: int, tail: float) -> None:
    assert student_tail(t, free) == pytest.approx(tail, rel=2e-4)
    assert student_tail(-t, free) == pytest.approx(1 - tail, rel=2e-4)


@pytest.mark.parametrize("free", [1, 4, 29, 400, 20_000])
def test_the_tail_falls_with_t_and_stays_a_probability(free: int) -> None:
    found = [student_tail(t, free) for t in np.linspace(-60, 60, 241).tolist()]
    assert all(0 <= one <= 1 for one in found)
    assert all(first >= second - 1e-12 for first, second in pairwise(found))


def test_p_of_noise_is_uniform() -> None:
    values = np.random.default_rng(0).normal(size=(40, 4_000))
    p = upper_tail(values)
    for level in (0.01, 0.05, 0.5):
        assert np.mean(p <= level) == pytest.approx(level, abs=3 * np.sqrt(level / 4_000))


@given(arrays(np.float64, st.integers(1, 20), elements=st.floats(0, 1)))
def test_the_rate_is_that_of_the_step_up_procedure(p: np.ndarray) -> None:
    q = benjamini_hochberg(p)
    for rate in (0.01, 0.05, 0.2):
        ranked = np.sort(p)
        under = np.flatnonzero(ranked <= rate * np.arange(1, len(p) + 1) / len(p) + 1e-15)
        named = set() if not len(under) else set(np.flatnonzero(p <= ranked[under[-1]]).tolist())
        assert set(np.flatnonzero(q <= rate + 1e-12).tolist()) == named


def test_a_rate_of_missing_values_is_missing() -> None:
    assert benjamini_hochberg(np.array([np.nan, 0.02])).tolist() == pytest.approx([np.nan, 0.02], nan_ok=True)


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
