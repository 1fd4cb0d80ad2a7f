"""Sums of parts are the sums of the whole, however the texts are divided."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bartviz.corpus.sums import BINS, DRAWN, EXAMPLES, Partial, lots, merged
from bartviz.record.attention import Kind

NAMES = ("previous", "entropy")
SHAPE = (2, 2)


def values(seed: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Rounded, so that there are equal values; some are undefined."""
    random = np.random.default_rng(seed)
    drawn = random.random((count, *SHAPE, 2)).round(1).astype(np.float32)
    drawn[random.random(drawn.shape) < 0.2] = np.nan
    return drawn, random.random((count, 2)).astype(np.float32)


def part(seed: int, count: int) -> Callable[[np.ndarray], Partial]:
    drawn, even = values(seed, count)

    def of(texts: np.ndarray) -> Partial:
        return Partial.of("encoder", NAMES, drawn[texts], even[texts], texts)

    return of


def assert_same(one: Partial, two: Partial) -> None:
    for name in ("count", "histogram", "even_count"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    for name in ("total", "squares", "even_total"):
        np.testing.assert_allclose(getattr(one, name), getattr(two, name), rtol=1e-9)
    for name in ("highest", "lowest", "drawn"):
        np.testing.assert_array_equal(getattr(one, name).values, getattr(two, name).values)
        np.testing.assert_array_equal(getattr(one, name).texts, getattr(two, name).texts)


@given(st.integers(0, 1000), st.lists(st.integers(0, 3), min_size=1, max_size=40), st.permutations(range(4)))
def test_merged_parts_are_the_whole_in_any_division_and_order(seed: int, owner: list[int], order: list[int]) -> None:
    of = part(seed, len(owner))
    divided = [np.flatnonzero(np.array(owner) == number) for number in order]
    parts: list[dict[Kind, Partial]] = [{"encoder": of(texts)} for texts in divided if len(texts)]
    assert_same(merged(parts)["encoder"], of(np.arange(len(owner))))
    halves = [merged(parts[:2]), merged(parts[2:])]
    assert_same(merged(halves)["encoder"], of(np.arange(len(owner))))


def test_sums_histograms_and_examples_are_those_of_plain_loops() -> None:
    drawn, even = values(3, 50)
    found = Partial.of("encoder", NAMES, drawn, even, np.arange(50))
    for cell, (layer, head, name) in enumerate(np.ndindex(*SHAPE, 2)):
        column = drawn[:, layer, head, name].astype(float)
        known = [(value, text) for text, value in enumerate(column) if not np.isnan(value)]
        assert found.count[cell] == len(known)
        assert np.isclose(found.total[cell], sum(value for value, _ in known))
        assert np.isclose(found.squares[cell], sum(value**2 for value, _ in known))
        best = sorted(known, key=lambda one: (-one[0], one[1]))[:EXAMPLES]
        worst = sorted(known)[:EXAMPLES]
        assert found.highest.texts[:, cell].tolist() == [text for _, text in best]
        assert (-found.lowest.values[:, cell]).tolist() == [value for value, _ in worst]
        drawn_by_lot = sorted(known, key=lambda one: int(lots(np.array([one[1]]))[0]))[:DRAWN]
        assert found.drawn.texts[:, cell].tolist() == [text for _, text in drawn_by_lot]
        assert found.drawn.values[:, cell].tolist() == [value for value, _ in drawn_by_lot]
        width = 0.05 if name == 0 else 0.5
        counts = np.zeros(BINS, int)
        for value, _ in known:
            counts[min(int(value / width), BINS - 1)] += 1
        assert found.histogram[cell].tolist() == counts.tolist()


def test_a_cell_without_values_has_no_example() -> None:
    nothing = np.full((2, *SHAPE, 2), np.nan, np.float32)
    found = Partial.of("encoder", NAMES, nothing, np.full((2, 2), np.nan), np.arange(2))
    assert not found.count.any()
    assert np.isnan(found.highest.values).all()
    assert not found.even_count.any()


def test_the_drawn_texts_are_a_fair_sample() -> None:
    """Of 20,000 texts each tenth is drawn from equally often: a chi-square of 9 degrees of freedom below its 99.9%."""
    drawn = np.argsort(lots(np.arange(20_000)))[:2000]
    counts = np.bincount(drawn // 2000, minlength=10)
    assert ((counts - 200) ** 2 / 200).sum() < 27.9
    assert len(np.unique(lots(np.arange(20_000)))) == 20_000
