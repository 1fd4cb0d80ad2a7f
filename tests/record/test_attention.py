"""Attention: the arithmetic by hand, then as properties."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bartviz.errors import RecordError, SettingError
from bartviz.record.attention import Attention, Head
from bartviz.record.softmax import masked_softmax
from bartviz.text.tokens import Tokens
from tests.support import records, stand_in


def tokens(*labels: str) -> Tokens:
    n = len(labels)
    return Tokens(
        np.arange(n),
        labels,
        labels,
        tuple(range(n)),
        np.zeros(n, np.bool_),
        np.zeros(n, np.int64),
        tuple((i, i + 1) for i in range(n)),
    )


def by_hand(mask: list[list[bool]], scale: float = 1.0, bias: float | None = None) -> Attention:
    """Two tokens, one layer, one head of width 1: q = (1, 2), k = (0, ln 3)."""
    q = np.array([1.0, 2.0]).reshape(1, 1, 2, 1)
    k = np.array([0.0, math.log(3)]).reshape(1, 1, 2, 1)
    added = None if bias is None else np.array([[[0.0, bias], [0.0, 0.0]]])
    ab = tokens("a", "b")
    return Attention("encoder", q, k, scale, np.array(mask), ab, ab, bias=added)


FULL = [[True, True], [True, True]]


def test_the_weights_are_the_softmax_of_the_scores() -> None:
    # row 0: e^0 : e^ln3 = 1 : 3; row 1: 1 : 9
    np.testing.assert_allclose(by_hand(FULL).head(0, 0), [[1 / 4, 3 / 4], [1 / 10, 9 / 10]], rtol=1e-6)


def test_the_scale_comes_before_the_softmax() -> None:
    # half the scale: row 1 is 1 : 3
    np.testing.assert_allclose(by_hand(FULL, scale=0.5).head(0, 0)[1], [1 / 4, 3 / 4], rtol=1e-6)


def test_the_bias_is_added_to_the_scores() -> None:
    # -ln 3 takes back the advantage of the second key in row 0
    np.testing.assert_allclose(by_hand(FULL, bias=-math.log(3)).head(0, 0)[0], [1 / 2, 1 / 2], rtol=1e-6)


def test_a_masked_cell_is_exactly_zero() -> None:
    weights = by_hand([[True, False], [True, True]]).head(0, 0)
    assert weights[0].tolist() == [1.0, 0.0]
    np.testing.assert_allclose(weights[1], [1 / 10, 9 / 10], rtol=1e-6)


def test_a_wholly_masked_row_is_uniform_and_labelled() -> None:
    attention = by_hand([[False, False], [True, True]])
    assert attention.masked_rows.tolist() == [True, False]
    assert attention.head(0, 0)[0].tolist() == [0.5, 0.5]


def test_a_layer_is_its_heads() -> None:
    attention = by_hand(FULL)
    np.testing.assert_array_equal(attention.layer(0), attention.head(0, 0)[None])


@pytest.mark.parametrize(("layer", "head"), [(1, 0), (0, 1), (-1, 0), (0, -1)])
def test_a_head_that_is_not_there_is_refused_with_the_choices(layer: int, head: int) -> None:
    with pytest.raises(SettingError, match="choose 0 to 0"):
        by_hand(FULL).head(layer, head)


def test_arrays_are_read_only() -> None:
    attention = by_hand(FULL)
    with pytest.raises(ValueError, match="read-only"):
        attention.queries[0, 0, 0, 0] = 5
    with pytest.raises(ValueError, match="read-only"):
        attention.query.ids[0] = 5


def test_looking_twice_gives_the_same_weights() -> None:
    attention = by_hand(FULL)
    first = attention.head(0, 0)
    first[:] = 0  # the caller's own copy
    np.testing.assert_allclose(attention.head(0, 0)[0], [1 / 4, 3 / 4], rtol=1e-6)


@pytest.mark.parametrize("broken", [math.nan, math.inf, -math.inf])
def test_numbers_that_are_not_finite_are_refused(broken: float) -> None:
    attention = by_hand(FULL)
    q = attention.queries.copy()
    q[0, 0, 1, 0] = broken
    with pytest.raises(RecordError, match="not finite"):
        Attention("encoder", q, attention.k, 1.0, attention.mask, attention.query, attention.key)


def test_shapes_that_contradict_are_refused() -> None:
    attention = by_hand(FULL)
    with pytest.raises(RecordError, match="mask has shape"):
        Attention("encoder", attention.q, attention.k, 1.0, np.ones((2, 3), np.bool_), attention.query, attention.key)
    with pytest.raises(RecordError, match="1 query and 2 key tokens"):
        Attention("encoder", attention.q, attention.k, 1.0, attention.mask, tokens("a"), attention.key)
    with pytest.raises(RecordError, match="k has shape"):
        Attention("encoder", attention.q, attention.keys[:, :, :1], 1.0, attention.mask, attention.query, attention.key)


@pytest.mark.parametrize("name", ["cross L2H5", " Cross  l2h5 "])
def test_a_head_is_read_from_its_name(name: str) -> None:
    head = Head.parse(name)
    assert (head, str(head), head.short) == (Head("cross", 2, 5), "cross L2H5", "L2H5")


@pytest.mark.parametrize("name", ["", "L2H5", "cross 2 5", "self L1H1", "cross L-1H0"])
def test_a_name_that_is_no_head_is_refused(name: str) -> None:
    with pytest.raises(SettingError, match="cross L2H5"):
        Head.parse(name)


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.integers(1, 9), st.floats(0, 300))
def test_rows_sum_to_one_and_masked_cells_are_zero(seed: int, rows: int, columns: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    scores = (rng.normal(size=(rows, columns)) * size).astype(np.float32)
    mask = rng.random((rows, columns)) < 0.6
    weights = masked_softmax(scores.copy(), mask)
    np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-5)
    seen = mask.any(axis=1)
    assert (weights[seen][~mask[seen]] == 0).all()
    assert (weights >= 0).all()
    # a constant added to a row's scores changes nothing
    np.testing.assert_allclose(masked_softmax(scores + np.float32(8), mask), weights, atol=1e-4)


def test_the_length_of_a_long_text_is_one_line() -> None:
    tokens = stand_in.tokens(tuple(f"w{place}" for place in range(900)))
    assert repr(tokens).startswith("<Tokens: 'w0' 'w1' ")
    assert repr(tokens).endswith("'w11' ... 900 in all>")
    assert repr(stand_in.tokens(("<s>", "<b>"))) == "<Tokens: '<s>' '<b>'>"


def changed(**parts: object) -> Attention:
    return replace(by_hand(FULL), **parts)  # type: ignore[arg-type]


def test_a_window_hides_what_is_as_far_away_as_it_is_wide() -> None:
    near = changed(windows=np.array([1]))
    assert near.head(0, 0).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert near.mask.all()
    for wide in (0, 2):
        np.testing.assert_array_equal(changed(windows=np.array([wide])).head(0, 0), by_hand(FULL).head(0, 0))


def test_a_cap_keeps_scores_below_it() -> None:
    # row 1: ln 9 becomes ln 3 * tanh(2) = 1.0591
    weights = changed(softcap=math.log(3)).head(0, 0)
    other = math.exp(math.log(3) * math.tanh(2))
    np.testing.assert_allclose(weights[1], [1 / (1 + other), other / (1 + other)], rtol=1e-6)


def test_a_sink_takes_a_part_that_no_key_gets() -> None:
    # row 0: 1 and 3 beside e^ln 4 = 4; row 1: 1 and 9
    weights = changed(sinks=np.array([[math.log(4)]])).head(0, 0)
    np.testing.assert_allclose(weights, [[1 / 8, 3 / 8], [1 / 14, 9 / 14]], rtol=1e-6)


def test_a_row_that_sees_nothing_beside_a_sink_is_zero() -> None:
    alone = replace(by_hand([[False, False], [True, True]]), sinks=np.zeros((1, 1), np.float32))
    assert alone.head(0, 0)[0].tolist() == [0.0, 0.0]


def test_each_layer_may_have_a_bias_of_its_own() -> None:
    one = by_hand(FULL)
    bias = np.zeros((2, 1, 2, 2), np.float32)
    bias[1, 0, 0, 1] = -math.log(3)
    two = replace(one, q=np.repeat(one.queries, 2, axis=0), k=np.repeat(one.keys, 2, axis=0), bias=bias)
    np.testing.assert_allclose(two.head(0, 0)[0], [1 / 4, 3 / 4], rtol=1e-6)
    np.testing.assert_allclose(two.head(1, 0)[0], [1 / 2, 1 / 2], rtol=1e-6)


@pytest.mark.parametrize(
    "parts", [{"windows": np.array([1, 1])}, {"windows": np.array([-1])}, {"softcap": 0.0}, {"sinks": np.zeros((1, 2))}]
)
def test_details_that_do_not_fit_are_refused(parts: dict[str, object]) -> None:
    with pytest.raises(RecordError):
        changed(**parts)


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_weights_of_some_rows_are_rows_of_the_head(kind: str) -> None:
    attention = records.encoder_decoder(padding=2).attention(kind)
    some = attention.row_weights(1, slice(1, 4))
    np.testing.assert_allclose(some[1], attention.head(1, 1)[1:4], rtol=1e-5, atol=1e-7)
