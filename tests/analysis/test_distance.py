"""Jensen-Shannon distances: by hand, as a metric, and between the views of two heads."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bartviz.analysis import distance, head_view
from bartviz.errors import SettingError
from bartviz.record.attention import Attention
from tests.support import records


def test_two_rows_by_hand() -> None:
    assert distance.jensen_shannon(np.array([1.0, 0.0]), np.array([0.0, 1.0])) == pytest.approx(1)
    # middle (3/4, 1/4): half of log2(4/3) and of 1/2 log2(2/3) + 1/2 log2(2)
    divergence = (np.log2(4 / 3) + np.log2(2 / 3) / 2 + 1 / 2) / 2
    found = distance.jensen_shannon(np.array([1.0, 0.0]), np.array([0.5, 0.5]))
    assert found == pytest.approx(np.sqrt(divergence))


rows = st.lists(st.integers(0, 20), min_size=4, max_size=4).filter(any).map(lambda found: np.array(found) / sum(found))


@pytest.mark.slow
@given(rows, rows, rows)
def test_it_is_a_metric_between_0_and_1(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    between = distance.jensen_shannon
    assert between(a, a) == 0
    assert between(a, b) == pytest.approx(between(b, a), abs=1e-12)
    assert 0 <= between(a, b) <= 1
    assert between(a, c) <= between(a, b) + between(b, c) + 1e-7


@settings(max_examples=40)
@given(records.attentions(), st.data())
def test_a_head_is_at_no_distance_from_itself(attention: Attention, data: st.DataObject) -> None:
    layer = data.draw(st.integers(0, attention.shape[0] - 1))
    head = data.draw(st.integers(0, attention.shape[1] - 1))
    found = distance.distances(attention, layer, head)
    if np.isfinite(found).any():
        assert found[layer, head] == 0
        assert ((found >= 0) & (found <= 1)).all()
    view = head_view.view(attention, layer, head)
    own = distance.contrast(view, view)
    assert own is not None
    assert not own.difference.any()
    assert np.nan_to_num(own.distance).max() == 0


def test_distances_are_those_of_the_rows_that_count() -> None:
    attention = records.encoder_only().attention("encoder")
    found = distance.distances(attention, 1, 2)
    a, b = attention.head(1, 2), attention.head(0, 1)
    counted = ~attention.query.special
    assert found[0, 1] == pytest.approx(distance.jensen_shannon(a, b)[counted].mean(), abs=1e-5)
    other = distance.distances(attention, 0, 1)
    assert found[0, 1] == pytest.approx(other[1, 2], abs=1e-5)


def test_the_nearest_heads_come_first_and_the_head_itself_never() -> None:
    found = np.array([[0.0, 0.5], [0.25, np.nan]], np.float32)
    assert distance.nearest(found, 0, 0) == [(1, 0, 0.25), (0, 1, 0.5)]
    assert distance.nearest(found, 0, 0, most=1) == [(1, 0, 0.25)]


def test_a_head_that_is_not_there() -> None:
    with pytest.raises(SettingError, match="head 9"):
        distance.distances(records.encoder_only().attention("encoder"), 0, 9)


def test_a_difference_is_b_minus_a_and_needs_the_same_tokens() -> None:
    record = records.encoder_decoder()
    cross, encoder = record.attention("cross"), record.attention("encoder")
    a, b = head_view.view(cross, 0, 0), head_view.view(cross, 1, 2)
    found = distance.contrast(a, b)
    assert found is not None
    np.testing.assert_allclose(found.difference, b.weights - a.weights)
    np.testing.assert_allclose(found.difference.sum(axis=1), 0, atol=1e-5)
    np.testing.assert_allclose(found.distance, distance.jensen_shannon(a.weights, b.weights))
    assert found.mean == pytest.approx(float(distance.distances(cross, 0, 0)[1, 2]), abs=1e-6)
    counted = [row for row in range(len(a.weights)) if a.has_choice[row] and not a.query_special[row]]
    largest = [(max(range(len(one)), key=one.__getitem__)) for one in (*a.weights[counted], *b.weights[counted])]
    same = [largest[place] == largest[place + len(counted)] for place in range(len(counted))]
    assert (found.alike, found.rows) == (sum(same), len(counted))
    itself = distance.contrast(a, a)
    assert itself is not None
    assert itself.alike == itself.rows == len(counted)
    other = head_view.view(encoder, 0, 0)
    assert distance.contrast(a, other) is None
    assert "too many rows differ, the first at position 0" in distance.mismatch(a, other)
    short = records.encoder_only(("<s>", "a", "</s>")).attention("encoder")
    assert "A has 9 rows and B 3" in distance.mismatch(other, head_view.view(short, 0, 0))
    assert distance.mismatch(a, b) == ""


def test_a_head_that_looks_where_another_looked_one_row_above_is_late() -> None:
    view = head_view.view(records.encoder_only(("<s>", "a", "b", "c", "</s>")).attention("encoder"), 0, 0)
    rows = np.eye(5, dtype=np.float32)
    a, b = replace(view, weights=rows), replace(view, weights=np.roll(rows, 1, axis=0))  # b: the row above's column
    found, other = distance.contrast(a, b), distance.contrast(b, a)
    assert found is not None
    assert other is not None
    assert (found.alike, found.late, found.early, found.following) == (0, 3, 0, 3)  # a, b and c
    assert (other.alike, other.late, other.early, other.following) == (0, 0, 3, 3)


def test_texts_with_a_word_replaced_are_subtracted_place_by_place() -> None:
    one, other = (
        head_view.view(records.encoder_only(("<s>", "I", f" {verb}", "</s>")).attention("encoder"), 0, head)
        for head, verb in enumerate(("buy", "sell"))
    )
    found = distance.contrast(one, other)
    assert found is not None
    np.testing.assert_allclose(found.difference, other.weights - one.weights)
    assert distance.paired(one.key_labels, other.key_labels) == ("<s>", "I", "buy / sell", "</s>")
    third = head_view.view(records.encoder_only(("<s>", "You", " sell", "</s>")).attention("encoder"), 0, 0)
    assert distance.contrast(one, third) is None


@settings(max_examples=40)
@given(records.attentions())
def test_merged_into_words_rows_still_sum_to_1_and_differences_to_0(attention: Attention) -> None:
    last = attention.shape[1] - 1
    a, b = head_view.view(attention, 0, 0, words=True), head_view.view(attention, 0, last, words=True)
    np.testing.assert_allclose(a.weights.sum(axis=1), 1, atol=1e-5)
    found = distance.contrast(a, b)
    assert found is not None
    np.testing.assert_allclose(found.difference.sum(axis=1), 0, atol=1e-5)
    assert np.isnan(found.distance).tolist() == (~a.has_choice).tolist()
