"""Contributions by hand (one row, two keys, two heads), then as properties of random attention."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from bartviz.analysis import contributions
from bartviz.analysis.head_measures import shares
from bartviz.arrays import Floats
from bartviz.errors import RecordError, SettingError
from bartviz.record.attention import Attention
from tests.support import records, stand_in


def numbers(values: list[list[float]], *shape: int) -> Floats:
    return np.array(values, np.float32).reshape(shape)


def by_hand() -> Attention:
    """One row "a" over keys "b" and "c", heads of width 1 that look 1 : 3 and 1 : 1.

    Values 4 and 8 (first head), 2 and -2 (second); the projection puts the first head on (3, 4), the second on
    (0, 1); it adds (1, 1).
    """
    q = numbers([[1], [1]], 1, 2, 1, 1)
    k = numbers([[0, math.log(3)], [0, 0]], 1, 2, 2, 1)
    v = numbers([[4, 8], [2, -2]], 1, 2, 2, 1)
    out = numbers([[3, 0], [4, 1]], 1, 2, 2, 1)
    tokens = stand_in.tokens(("b", "c"))
    return Attention(
        "cross",
        q,
        k,
        1.0,
        np.ones((1, 2), np.bool_),
        tokens.take(slice(1)),
        tokens,
        v=v,
        out=out,
        out_bias=numbers([[1, 1]], 1, 2),
    )


def test_a_layers_norms_by_hand() -> None:
    """Both heads together: first key (3, 4) + (0, 1), second 6 * (3, 4) - (0, 1)."""
    np.testing.assert_allclose(contributions.block_norms(by_hand(), 0), [[34**0.5, 853**0.5]], rtol=1e-6)
    (parts,) = contributions.added(by_hand(), 0)
    np.testing.assert_allclose(parts, [[[3, 5], [18, 23]]], rtol=1e-6)


def test_rows_in_several_blocks_are_those_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = stand_in.tokens(("a", "b", "c", "d", "e"))
    attention = records.attention("encoder", tokens, tokens)
    (whole,) = contributions.added(attention, 0)
    monkeypatch.setattr(contributions, "NUMBERS", 2 * whole[0].size)
    blocks = [*contributions.added(attention, 0)]
    assert [len(block) for block in blocks] == [2, 2, 1]
    np.testing.assert_allclose(np.concatenate(blocks), whole, rtol=1e-5, atol=1e-6)


def test_the_arithmetic_by_hand() -> None:
    attention = by_hand()
    # weights 1/4 and 3/4: 4 / 4 + 8 * 3 / 4 = 7
    np.testing.assert_allclose(contributions.context(attention, 0, 0), [[7]], rtol=1e-6)
    np.testing.assert_allclose(contributions.context(attention, 0, 1), [[0]], atol=1e-6)
    # first key: the length of 1/4 * 4 * (3, 4); second: that of 3/4 * 8 * (3, 4)
    np.testing.assert_allclose(contributions.norms(attention, 0, 0), [[5, 30]], rtol=1e-6)
    np.testing.assert_allclose(contributions.norms(attention, 0, 1), [[1, 1]], rtol=1e-6)
    np.testing.assert_allclose(contributions.output(attention, 0), [[22, 29]], rtol=1e-6)
    np.testing.assert_allclose(shares(contributions.lengths(attention))[0], [[1], [0]], atol=1e-6)


def test_heads_that_all_add_nothing_share_equally() -> None:
    silent = replace(by_hand(), v=numbers([[0, 0, 0, 0]], 1, 2, 2, 1))
    np.testing.assert_allclose(shares(contributions.lengths(silent))[0], [[0.5], [0.5]])


def test_a_record_without_values_says_what_to_do() -> None:
    bare = replace(by_hand(), v=None, out=None, out_bias=None)
    assert not contributions.available(bare)
    assert contributions.available(by_hand())
    with pytest.raises(SettingError, match="Run the text again"):
        contributions.context(bare, 0, 0)


@pytest.mark.parametrize(("layer", "head"), [(1, 0), (0, 2)])
def test_what_is_not_there_is_refused_with_the_choices(layer: int, head: int) -> None:
    with pytest.raises(SettingError, match="choose 0 to"):
        contributions.norms(by_hand(), layer, head)


def test_a_projection_that_does_not_fit_is_refused() -> None:
    attention = by_hand()
    with pytest.raises(RecordError, match="projection has shape"):
        replace(attention, out=numbers([[1] * 6], 1, 2, 3, 1))
    with pytest.raises(RecordError, match="projection needs"):
        replace(attention, v=None)
    with pytest.raises(RecordError, match="bias has shape"):
        replace(attention, out_bias=numbers([[1, 1, 1]], 1, 3))
    with pytest.raises(RecordError, match="not finite"):
        replace(attention, out_bias=numbers([[np.nan, 1]], 1, 2))


@pytest.mark.slow
@given(records.attentions())
def test_parts_sum_to_the_whole(attention: Attention) -> None:
    assert attention.out is not None
    assert attention.out_bias is not None
    summed = sum(
        attention.head(0, head) @ contributions.projected(attention, 0, head) for head in range(attention.shape[1])
    )
    whole = contributions.output(attention, 0)
    np.testing.assert_allclose(summed + attention.out_bias[0], whole, rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(shares(contributions.lengths(attention))[0].sum(axis=0), 1, rtol=1e-5)


@pytest.mark.slow
@given(records.attentions())
def test_norms_are_those_of_the_vectors(attention: Attention) -> None:
    """Against one vector after the other, in double precision."""
    _, heads, rows, columns = attention.shape
    assert attention.v is not None
    assert attention.out is not None
    v, out = attention.v.astype(float), attention.out.astype(float)
    alone = [contributions.norms(attention, 0, head) for head in range(heads)]
    for i in range(rows):
        for j in range(columns):
            added = [attention.head(0, head)[i, j] * (out[0, :, head] @ v[0, head, j]) for head in range(heads)]
            for head in range(heads):
                assert alone[head][i, j] == pytest.approx(np.sqrt((added[head] ** 2).sum()), rel=1e-4, abs=1e-5)
