"""Scaling by hand, against a direct computation, and on vectors of variance 1."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given

from bartviz.analysis import scaling
from bartviz.arrays import Floats
from bartviz.record.attention import Attention
from tests.support import records, stand_in


def attention(q: Floats, k: Floats, scale: float) -> Attention:
    tokens = stand_in.tokens([f"t{i}" for i in range(len(q))])
    mask = np.ones((len(q), len(k)), np.bool_)
    return Attention("encoder", q[None, None], k[None, None], scale, mask, tokens, tokens)


def test_by_hand() -> None:
    # width 4, one product: rows score 0 and 2 ln 3 unscaled, 0 and ln 3 scaled by 1/2
    q = np.array([[1, 0, 0, 0], [1, 0, 0, 0]], np.float32)
    k = np.array([[0, 0, 0, 0], [2 * math.log(3), 0, 0, 0]], np.float32)
    found = scaling.scaling(attention(q, k, 0.5), 0, 0)
    np.testing.assert_allclose(found.model.largest, [3 / 4] * 2, rtol=1e-6)
    np.testing.assert_allclose(found.other.largest, [9 / 10] * 2, rtol=1e-6)
    bits = -(0.75 * math.log2(0.75) + 0.25 * math.log2(0.25))
    np.testing.assert_allclose(found.model.entropy, [bits] * 2, rtol=1e-5)
    assert (found.model.scale, found.other.scale, found.width, found.even) == (0.5, 1.0, 4, 1.0)
    assert "0.90 on average" in scaling.sentence(found)


def test_the_variance_of_products_is_the_width() -> None:
    """Vaswani et al. 2017, footnote 4."""
    random = np.random.default_rng(0)
    q, k = (random.normal(size=(100, 64)).astype(np.float32) for _ in range(2))
    found = scaling.scaling(attention(q, k, 1 / 8), 0, 0)
    assert found.other.scores.var() == pytest.approx(64, rel=0.05)
    assert found.model.scores.var() == pytest.approx(1, rel=0.05)
    assert found.other.largest.mean() > 0.7
    assert found.model.largest.mean() < 0.15


def test_what_is_not_scaled_is_compared_with_what_would_be() -> None:
    q = np.array([[4.0], [1.0]], np.float32).repeat(4, 1)
    found = scaling.scaling(attention(q, q, 1.0), 0, 0)
    assert (found.model.name, found.other.name) == ("q · k unscaled, as the model does", "divided by √4")
    np.testing.assert_allclose(found.other.scores * 2, found.model.scores)


@pytest.mark.slow
@given(records.attentions())
def test_a_layer_is_its_heads(one: Attention) -> None:
    whole = scaling.scaling(one, 0)
    heads = [scaling.scaling(one, 0, head) for head in range(one.shape[1])]
    np.testing.assert_allclose(whole.model.scores, np.concatenate([part.model.scores for part in heads]), rtol=1e-4)
    padded = one.masked_rows if one.kind == "cross" else ~one.mask.any(axis=0)
    weights = one.head(0, 0)[(one.mask.sum(axis=1) > 1) & ~(padded & ~padded.all())]
    np.testing.assert_allclose(heads[0].model.largest, weights.max(axis=1) if len(weights) else [], atol=1e-5)
    assert all((side.entropy >= 0).all() for side in (whole.model, whole.other))
    assert scaling.sentence(whole)
    assert len(scaling.table(whole)) == 2


def test_of_long_texts_rows_are_taken_evenly() -> None:
    random = np.random.default_rng(1)
    q, k = (random.normal(size=(300, 4)).astype(np.float32) for _ in range(2))
    found = scaling.scaling(attention(q, k, 0.5), 0, 0)
    assert (found.rows, found.of_rows, len(found.model.entropy)) == (128, 300, 128)
