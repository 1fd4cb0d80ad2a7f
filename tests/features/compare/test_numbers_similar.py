"""Similarity of all heads: by hand, against the distance of two heads, and coordinates that preserve distances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from bartviz.analysis import distance
from bartviz.analysis.measures import Measured
from bartviz.features.compare import numbers_similar as similar
from bartviz.record.attention import Attention
from tests.support import records


def test_a_pair_is_as_far_as_its_rows_are() -> None:
    attention = records.encoder_only().attention("encoder")
    found = similar.likeness(attention)
    assert found is not None
    rows = ~attention.query.special
    for one, other in ((0, 5), (2, 3)):
        far = distance.distances(attention, *divmod(one, 3), rows=rows)[divmod(other, 3)]  # the table's number
        assert found.distances[one, other] == pytest.approx(far, abs=1e-3)
    assert found.rows == int(rows.sum())


def test_equal_heads_coincide_and_disjoint_ones_are_1_apart() -> None:
    same, other = np.eye(4, dtype=np.float32), np.eye(4, k=1, dtype=np.float32) + np.eye(4, k=-3, dtype=np.float32)
    apart = similar.between(np.stack([same, same, other]))
    np.testing.assert_allclose(apart, [[0, 0, 1], [0, 0, 1], [1, 1, 0]], atol=1e-6)
    places, kept = similar.arrange(apart**2)
    assert np.linalg.norm(places[0] - places[1]) == pytest.approx(0, abs=1e-4)
    assert np.linalg.norm(places[0] - places[2]) == pytest.approx(1, abs=1e-4)
    assert kept == pytest.approx(1)


def test_places_of_points_in_a_plane_keep_all_distances() -> None:
    points = np.array([[0.0, 0.0], [0.3, 0.0], [0.0, 0.4], [0.5, 0.5]])
    squares = ((points[:, None] - points[None]) ** 2).sum(axis=-1).astype(np.float32)
    places, kept = similar.arrange(squares)
    again = ((places[:, None] - places[None]) ** 2).sum(axis=-1)
    np.testing.assert_allclose(again, squares, atol=1e-5)
    assert kept == pytest.approx(1)


def test_the_most_alike_pairs_come_first() -> None:
    squares = np.array([[0, 0.04, 0.25], [0.04, 0, 0.01], [0.25, 0.01, 0]], np.float32)
    found = similar.Likeness(np.sqrt(squares), np.zeros((3, 2), np.float32), 1.0, 5, (1, 3))
    assert [pair[:2] for pair in found.pairs()] == [((0, 1), (0, 2)), ((0, 0), (0, 1)), ((0, 0), (0, 2))]
    assert found.pairs(1)[0][2] == pytest.approx(0.1)


def test_of_many_rows_some_are_chosen_evenly() -> None:
    long = records.encoder_only(("a", *[" b"] * 99)).attention("encoder")
    found = similar.likeness(long)
    assert found is not None
    assert found.rows == similar.ROWS


def test_special_tokens_alone_have_no_likeness() -> None:
    assert similar.likeness(records.encoder_only(("<s>", "</s>")).attention("encoder")) is None


@settings(max_examples=30)
@given(records.attentions())
def test_distances_are_symmetric_within_0_and_1(attention: Attention) -> None:
    found = similar.likeness(attention)
    if found is None:
        return
    np.testing.assert_array_equal(found.distances, found.distances.T)
    assert not found.distances.diagonal().any()
    assert ((found.distances >= 0) & (found.distances <= 1)).all()
    assert np.isfinite(found.places).all()
    assert 0 <= found.kept <= 1 + 1e-6


def measured(previous: list[list[float]], peak: list[list[float]], entropy: list[list[float]]) -> Measured:
    values = {"previous": np.array(previous), "peak": np.array(peak), "entropy": np.array(entropy)}
    return Measured("encoder", (len(previous), len(previous[0])), values, dict.fromkeys(values, 0.1), {})


def test_the_counterpart_of_a_head_does_most_nearly_the_same_in_another_run() -> None:
    one = measured([[0.9, 0.1]], [[0.9, 0.3]], [[0.0, 3.0]])
    other = measured([[0.2, 0.7], [0.85, 0.1]], [[0.3, 0.9], [0.95, 0.5]], [[0.1, 9.0], [9.0, 0.0]])
    assert similar.counterpart(one, (0, 0), other) == (1, 0)  # 0.05 and 0.05 apart; bits do not count
    assert similar.counterpart(one, (0, 1), other) == (0, 0)
    assert similar.counterpart(one, (0, 1), one) == (0, 1)
    unknown = measured([[np.nan, 0.1]], [[np.nan, 0.9]], [[1.0, 1.0]])
    assert similar.counterpart(one, (0, 0), unknown) == (0, 1)
    assert similar.counterpart(unknown, (0, 0), one) == (0, 0)
