"""The warnings with weights written by hand, against a second computation, and over random records."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.typing import ArrayLike

import bartviz
from bartviz.analysis import aligners, alignment, gold_alignment
from bartviz.features.pitfalls import numbers as pitfalls
from bartviz.record.attention import Attention, Kind
from bartviz.record.record import Record, open_record
from bartviz.text.tokens import Tokens
from tests.support import records, stand_in

HOME = Path(__file__).parents[3] / "bartviz" / "embedded" / "records"


def attention(kind: Kind, weights: ArrayLike, query: Tokens, key: Tokens, *, v: ArrayLike | None = None) -> Attention:
    """Attention whose heads have exactly these weights (L, H, Q, K): keys are unit vectors, queries are logarithms."""
    given = np.asarray(weights, np.float32)
    layers, heads, _rows, columns = given.shape
    q = np.log(np.maximum(given, 1e-12)).astype(np.float32)
    k = np.broadcast_to(np.eye(columns, dtype=np.float32), (layers, heads, columns, columns))
    values = None if v is None else np.asarray(v, np.float32)
    out = None if values is None else np.ones((layers, 1, heads, values.shape[3]), np.float32)
    return Attention(kind, q, k, 1.0, np.ones(given.shape[2:], bool), query, key, v=values, out=out)


def encoder(weights: ArrayLike, labels: tuple[str, ...], v: ArrayLike | None = None) -> Record:
    tokens = stand_in.tokens(labels)
    own = attention("encoder", weights, tokens, tokens, v=v)
    return Record(stand_in.model_info("encoder"), "".join(labels), None, own, None, None)


ABC = ("a", " b", " c")


def test_a_large_weight_on_a_short_value_contributes_little() -> None:
    """Weights 0.8, 0.1, 0.1 on values of length 1, 2, 10: 0.8, 0.2 and 1.0 arrive, of 2.0 in all."""
    row = [0.8, 0.1, 0.1]
    found = pitfalls.gap(encoder([[[row, row, row]]], ABC, v=[[[[1], [2], [10]]]]))
    assert found is not None
    assert (str(found.head), found.looked, found.brought) == ("encoder L0H0", 0, 2)
    np.testing.assert_allclose(found.weights, row, atol=1e-6)
    np.testing.assert_allclose(found.shares, [0.4, 0.1, 0.5], atol=1e-6)
    assert found.rank == pytest.approx(0)  # ranks 3, 1.5, 1.5 against 2, 1, 3


def test_without_values_contributions_are_not_mentioned() -> None:
    assert pitfalls.gap(encoder(np.full((1, 1, 3, 3), 1 / 3), ABC)) is None


def test_where_all_values_are_alike_weight_is_contribution() -> None:
    row = [0.6, 0.3, 0.1]
    found = pitfalls.gap(encoder([[[row, row, row]]], ABC, v=np.ones((1, 1, 3, 1))))
    assert found is not None
    assert found.looked == found.brought == 0
    assert found.rank == pytest.approx(1)


def test_the_mean_of_two_sharp_heads_has_a_bit_that_neither_has() -> None:
    """Head 0 always looks at a, head 1 always at b: each has 0 bits, their mean 1 bit; they share no key."""
    first, second = [[1, 0, 0]] * 3, [[0, 1, 0]] * 3
    even = np.full((2, 3, 3), 1 / 3).tolist()
    found = pitfalls.average(encoder(np.array([even, [first, second]]), ABC))
    assert found is not None
    assert (found.kind, found.layer, found.pair) == ("encoder", 1, (0, 1))
    assert found.mean == pytest.approx(1, abs=1e-5)
    assert found.heads == pytest.approx(0, abs=1e-5)
    assert found.apart == pytest.approx(1, abs=1e-5)
    assert (found.first, found.second) == (0, 1)


def test_examples_of_a_long_text_are_among_the_tokens_that_are_drawn() -> None:
    """Two heads that look farthest apart at the end of 40 words, and a little less so at the third: that is shown."""
    labels = ("<s>", *(f" w{at}" for at in range(39)))
    weights = np.full((1, 2, 40, 40), 1e-4)
    weights[0, :, :, 0] = 0.9
    weights[0, 0, 39, 38], weights[0, 1, 39, 37] = 1000, 1000
    weights[0, 0, 3, 5], weights[0, 1, 3, 7] = 3, 3
    record = encoder(weights / weights.sum(axis=-1, keepdims=True), labels)
    mean, rest = pitfalls.average(record), pitfalls.sinks(record)
    assert mean is not None
    assert rest is not None
    assert (mean.row, mean.first, mean.second) == (3, 5, 7)
    assert max(rest.row, rest.before, rest.after) < pitfalls.FIRST


def test_one_head_has_no_mean_to_hide_in() -> None:
    assert pitfalls.average(encoder(np.full((1, 1, 3, 3), 1 / 3), ABC)) is None


def test_sinks_by_hand() -> None:
    """Of <s> a b and the full stop, 0.5 + 0.2 goes to sinks in each of the two rows that count; evenly it is a half."""
    row = [0.5, 0.1, 0.2, 0.2]
    found = pitfalls.sinks(encoder([[[row] * 4]], ("<s>", "a", " b", " .")))
    assert found is not None
    assert found.share == pytest.approx(0.7)
    assert found.even == pytest.approx(0.5)
    assert [label for label, _share in found.tokens] == ["<s>", "."]
    assert [share for _label, share in found.tokens] == pytest.approx([0.5, 0.2])
    assert (str(found.head), found.before, found.after) == ("encoder L0H0", 0, 2)
    assert found.rest == pytest.approx(0.2 / 0.3)


def test_no_sinks_without_special_tokens_and_full_stops() -> None:
    assert pitfalls.sinks(encoder(np.full((1, 1, 3, 3), 1 / 3), ABC)) is None


def pair() -> Record:
    """A head of cross-attention that looks at the source word of the word to come: I sleep -> ich schlafe."""
    source, output = stand_in.tokens(("I", " sleep", "</s>")), stand_in.tokens(("ich", " schlafe", "</s>"))
    reads = stand_in.tokens(("</s>", "ich", " schlafe"))
    weights = [[[[0.9, 0.05, 0.05], [0.05, 0.9, 0.05], [0.05, 0.05, 0.9]]]]
    even = np.full((1, 1, 3, 3), 1 / 3)
    return Record(
        stand_in.model_info(),
        "I sleep",
        "ich schlafe",
        attention("encoder", even, source, source),
        attention("decoder", even, reads, reads),
        attention("cross", weights, reads, source),
        output=output,
    )


def test_the_shift_by_hand() -> None:
    """By what they predict both links are right; by what they read "ich" is linked to "sleep", and that is wrong."""
    found = pitfalls.shift(pair(), gold_alignment.read("0-0 1-1", 2, 2))
    assert found is not None
    assert found.by_hand
    assert found.links["predicts"] == {(0, 0), (1, 1)}
    assert (1, 0) in found.links["reads"]
    assert found.errors == {"predicts": 0.0, "reads": 1.0}


def test_without_links_by_hand_the_error_is_against_what_rows_predict() -> None:
    found = pitfalls.shift(pair())
    assert found is not None
    assert not found.by_hand
    assert found.errors["predicts"] == 0.0
    assert found.errors["reads"] == 1.0


def test_a_record_without_cross_attention_has_no_shift_to_show() -> None:
    assert pitfalls.shift(records.encoder_only()) is None


@pytest.mark.slow
@settings(max_examples=60)
@given(records.records())
def test_over_random_records_the_numbers_are_those_of_the_place_they_name(record: Record) -> None:
    gap, mean, rest = pitfalls.gap(record), pitfalls.average(record), pitfalls.sinks(record)
    if gap is not None:
        weights = record.attention(gap.head.kind).head(gap.head.layer, gap.head.head)[gap.row]
        np.testing.assert_allclose(gap.weights, weights)
        assert gap.looked == weights.argmax()
        assert gap.brought == gap.shares.argmax()
        assert gap.shares.sum() == pytest.approx(1, abs=1e-5)
        assert gap.rank <= 1.0001 or math.isnan(gap.rank)
    if mean is not None:
        assert mean.mean >= mean.heads - 1e-4  # the entropy of a mean is never below the mean entropy
        assert 0 <= mean.apart <= 1
        layer = record.attention(mean.kind).layer(mean.layer)
        assert [mean.first, mean.second] == [int(layer[head, mean.row].argmax()) for head in mean.pair]
    if rest is not None:
        assert 0 <= rest.share <= 1.0001
        assert sum(share for _label, share in rest.tokens) == pytest.approx(rest.share, abs=1e-4)
        row = record.attention(rest.kind).head(rest.head.layer, rest.head.head)[rest.row]
        assert rest.before == row.argmax()
        assert 0 <= rest.rest <= 1.0001


@pytest.mark.slow
def test_the_first_record_of_the_app_has_an_example_of_each() -> None:
    record = open_record(HOME / "start.safetensors")
    gap, mean, rest, late = (
        pitfalls.gap(record),
        pitfalls.average(record),
        pitfalls.sinks(record),
        pitfalls.shift(record),
    )
    assert gap is not None
    assert gap.looked != gap.brought
    assert mean is not None
    assert mean.mean > mean.heads + 0.5
    assert rest is not None
    assert rest.share > rest.even
    assert late is not None
    assert late.errors["reads"] > 0.5


def test_the_table_has_the_numbers_of_each_warning() -> None:
    found = pitfalls.table(pair(), gold_alignment.read("0-0 1-1", 2, 2)).set_index(["warning", "number"])["value"]
    assert found["shift", "error named by what a row predicts"] == 0.0
    assert found["shift", "error named by what a row reads"] == 1.0
    assert "gap" not in found.index.get_level_values(0)  # no values were kept
    row = [0.8, 0.1, 0.1]
    kept = pitfalls.table(encoder([[[row, row, row]]], ABC, v=[[[[1], [2], [10]]]])).set_index("number")["value"]
    assert kept["its share of what arrives"] == pytest.approx(0.4)
    assert kept["largest share of what arrives"] == pytest.approx(0.5)


@pytest.mark.slow
def test_the_shift_is_not_shown_with_a_head_that_looks_back() -> None:
    """A head that aligns the word just read agrees well by what its rows predict, and every link is wrong."""
    model = bartviz.load("bart-tiny-en-de")
    record = bartviz.capture(model, "My brother works in a small factory near the river.")
    found = pitfalls.shift(record)
    assert found is not None
    assert found.head not in aligners.best(aligners.aligners(record), "reads").heads
    source, target = (line.labels for line in alignment.lines(record))
    assert ("brother", "Bruder") in {(source[i], target[j]) for i, j in found.links["predicts"]}
