"""Small maps keep the strongest link of every block, and mark what is masked."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bartviz.analysis.thumbnails import MASKED, ONE, cells, thumbnails
from bartviz.analysis.weight_scale import RANGES, Range, shares
from bartviz.record.attention import Attention
from tests.support import records, stand_in


@settings(max_examples=50, deadline=None)
@given(records.attentions())
def test_short_texts_keep_every_weight_to_a_byte(own: Attention) -> None:
    small = thumbnails(own).cells
    layers, heads, rows, columns = own.shape
    assert small.shape == own.shape
    for layer in range(layers):
        for head in range(heads):
            seen = small[layer, head][own.mask] / ONE
            np.testing.assert_allclose(seen, own.head(layer, head)[own.mask], atol=0.5 / ONE + 1e-6)
    assert (small[..., ~own.mask] == MASKED).all()
    assert (rows, columns) == own.mask.shape


def test_long_texts_keep_the_largest_of_each_block() -> None:
    tokens = stand_in.tokens([f"t{i}" for i in range(130)])
    own = records.attention("encoder", tokens, tokens, layers=1, heads=1)
    small = thumbnails(own).cells
    assert small.shape == (1, 1, 64, 64)
    starts = np.arange(64) * 130 // 64
    weights = own.head(0, 0)
    expected = weights[starts[5] : starts[6], starts[7] : starts[8]].max()
    assert small[0, 0, 5, 7] == np.rint(expected * ONE)
    assert small.max() == np.rint(weights.max() * ONE)


def test_layers_and_columns_can_be_chosen() -> None:
    tokens = stand_in.tokens(("<s>", "a", "b"))
    own = records.attention("encoder", tokens, tokens, layers=3)
    small = thumbnails(own, [2], keys=np.array([False, True, True])).cells
    np.testing.assert_array_equal(small[0, 1], np.rint(own.head(2, 1)[:, 1:] * ONE))


def test_where_every_column_would_be_left_out_all_are_kept() -> None:
    own = records.encoder_decoder().attention("encoder")
    none = thumbnails(own, keys=np.zeros(own.shape[3], bool))
    assert np.array_equal(none.cells, thumbnails(own).cells)


def test_many_heads_share_the_budget() -> None:
    assert cells(1) == 64
    assert cells(144) == 45
    assert 384 * cells(384) ** 2 <= 300_000


def test_rows_and_powers_of_ten_spread_small_weights() -> None:
    tokens = stand_in.tokens(("a", "b"))
    own = records.attention("encoder", tokens, tokens, layers=1, heads=1)
    weights = own.head(0, 0)
    by_row = thumbnails(own, span="row")
    np.testing.assert_array_equal(by_row.cells[0, 0].max(axis=1), [ONE, ONE])
    np.testing.assert_array_equal(by_row.strongest, [[weights.max()]])
    powers = thumbnails(own, span="log").cells[0, 0]
    np.testing.assert_array_equal(powers, np.rint((1 + np.log10(weights) / 4) * ONE))


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(records.attentions(), st.sampled_from(RANGES), st.integers(1, 4), st.data())
def test_blocks_are_the_largest_of_the_weights_themselves(
    own: Attention, span: Range, side: int, data: st.DataObject
) -> None:
    """Masks, biases, hidden keys and every colour scale, against pooling that goes cell by cell."""
    columns = own.shape[3]
    keys = np.array(data.draw(st.lists(st.booleans(), min_size=columns, max_size=columns)))
    keys[data.draw(st.integers(0, columns - 1))] = True
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bartviz.analysis.thumbnails.SIDE", side)
        small = thumbnails(own, keys=keys, span=span)
    seen = own.mask[:, keys]
    rows, kept = seen.shape
    down, across = min(rows, side), min(kept, side)
    for layer, head in np.ndindex(own.shape[:2]):
        weights = own.head(layer, head)[:, keys]
        assert small.strongest[layer, head] == pytest.approx(weights.max(), rel=1e-5)
        scaled = np.clip(shares(weights, span), 0, 1)
        for i, j in np.ndindex(down, across):
            block = np.s_[i * rows // down : (i + 1) * rows // down, j * kept // across : (j + 1) * kept // across]
            if seen[block].any():
                assert small.cells[layer, head, i, j] == pytest.approx(scaled[block].max() * ONE, abs=0.51)
            else:
                assert small.cells[layer, head, i, j] == MASKED


@settings(max_examples=20, deadline=None)
@given(records.attentions(), st.integers(2, 5))
def test_threads_share_the_heads_and_nothing_else(own: Attention, threads: int) -> None:
    alone = thumbnails(own)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bartviz.analysis.thumbnails.LARGE", 0)
        patch.setattr("bartviz.analysis.thumbnails._THREADS", threads)
        shared = thumbnails(own)
    np.testing.assert_array_equal(shared.cells, alone.cells)
    np.testing.assert_array_equal(shared.strongest, alone.strongest)
