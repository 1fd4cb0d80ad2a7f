"""Attention patterns: by hand at n = 6, then as properties of any size."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bartviz.analysis.mask_patterns import PATTERNS, example_bias, offsets, pattern, relative_buckets
from bartviz.arrays import Bools
from bartviz.errors import SettingError


def drawn(mask: Bools) -> list[str]:
    return ["".join("x" if cell else "." for cell in row) for row in mask]


@pytest.mark.parametrize(
    ("name", "settings", "rows"),
    [
        ("full", {}, ["xxxx", "xxxx", "xxxx", "xxxx"]),
        ("causal", {}, ["x...", "xx..", "xxx.", "xxxx"]),
        ("prefix", {"prefix": 2}, ["xx..", "xx..", "xxx.", "xxxx"]),
        ("bigram", {}, ["x...", "xx..", ".xx.", "..xx"]),
        ("window", {"window": 1}, ["xx..", "xxx.", ".xxx", "..xx"]),
        ("dilated", {"window": 1, "dilation": 2}, ["x.x.", ".x.x", "x.x.", ".x.x"]),
        ("longformer", {"window": 0, "reach": 1}, ["xxxx", "xx..", "x.x.", "x..x"]),
        ("bigbird", {"window": 0, "reach": 0, "random": 0}, ["x...", ".x..", "..x.", "...x"]),
    ],
)
def test_patterns_by_hand(name: str, settings: dict[str, int], rows: list[str]) -> None:
    assert drawn(pattern(name, 4, **settings)) == rows


@settings(max_examples=50, deadline=None)
@given(st.sampled_from(sorted(PATTERNS)), st.integers(1, 40))
def test_every_row_may_look_at_itself(name: str, n: int) -> None:
    mask = pattern(name, n)
    assert mask.shape == (n, n)
    assert mask.dtype == np.bool_
    assert mask.diagonal().all()


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 30), st.integers(0, 3), st.integers(0, 2), st.integers(0, 4), st.integers(0, 99))
def test_bigbird_is_longformer_and_so_many_more_in_each_row(
    n: int, window: int, reach: int, more: int, seed: int
) -> None:
    without = pattern("longformer", n, window=window, reach=reach)
    mask = pattern("bigbird", n, window=window, reach=reach, random=more, seed=seed)
    assert mask[without].all()
    added = mask.sum(axis=1) - without.sum(axis=1)
    np.testing.assert_array_equal(added, np.minimum(more, n - without.sum(axis=1)))
    np.testing.assert_array_equal(mask, pattern("bigbird", n, window=window, reach=reach, random=more, seed=seed))


def test_another_seed_draws_another_pattern() -> None:
    assert not np.array_equal(pattern("bigbird", 30, seed=0), pattern("bigbird", 30, seed=1))


@pytest.mark.parametrize(
    ("name", "n", "settings", "says"),
    [
        ("diagonal", 4, {}, "full, causal"),
        ("causal", 0, {}, "1 to 4,096"),
        ("causal", 5_000, {}, "1 to 4,096"),
        ("window", 4, {"window": -1}, "at least 0"),
        ("dilated", 4, {"dilation": 0}, "at least 1"),
        ("window", 4, {"reach": 1}, "accepts window, not reach"),
        ("causal", 4, {"window": 1}, "accepts none, not window"),
    ],
)
def test_impossible_patterns_are_refused_with_the_choices(
    name: str, n: int, settings: dict[str, int], says: str
) -> None:
    with pytest.raises(SettingError, match=says):
        pattern(name, n, **settings)


@pytest.mark.parametrize("both_ways", [True, False])
def test_buckets_are_those_of_t5(both_ways: bool) -> None:
    torch = pytest.importorskip("torch")
    t5 = pytest.importorskip("transformers.models.t5.modeling_t5")
    place = torch.arange(300)
    theirs = t5.T5Attention._relative_position_bucket(
        place[None, :] - place[:, None], bidirectional=both_ways, num_buckets=32, max_distance=128
    )
    np.testing.assert_array_equal(relative_buckets(offsets(300), both_ways=both_ways), theirs.numpy())


def test_example_bias_is_symmetric_and_falls_with_distance() -> None:
    bias = example_bias(40)
    np.testing.assert_array_equal(bias, bias.T)
    assert (np.diff(bias[0]) <= 0).all()
    assert bias[0, 0] == 0
    assert bias[0, 1] == np.float32(-0.4)
