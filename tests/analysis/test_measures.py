"""Measures of heads: rows of weights that a person can check, then properties over random attention."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from bartviz.analysis import head_measures, measures
from bartviz.analysis.measure_inputs import Cells, Received, Weights
from bartviz.analysis.measures import Block, Measured
from bartviz.patterns.pair import ALL, Pair, Side
from bartviz.record.attention import Attention, Kind
from tests.support import records, stand_in

WORDS = ("<s>", "a", " b", " c", ".", "</s>")


def head(weights: ArrayLike, labels: tuple[str, ...] = WORDS, kind: Kind = "encoder") -> Attention:
    """One head whose weights are these: the queries are unit vectors, and the keys the logarithms."""
    given_weights = np.asarray(weights, np.float32)
    queries, keys = given_weights.shape
    logs = np.log(np.maximum(given_weights, 1e-30))
    q = np.eye(queries, dtype=np.float32)[None, None]  # (1, 1, Q, Q)
    k = logs.T[None, None]  # (1, 1, K, Q)
    query, key = stand_in.tokens(labels[:queries]), stand_in.tokens(labels[:keys])
    mask = np.tri(queries, keys, dtype=bool) if kind == "decoder" else np.ones((queries, keys), bool)
    return Attention(kind, q, k, 1.0, mask, query, key)


def value(found: Measured, name: str) -> float:
    return float(found.values[name][0, 0])


def test_an_even_head_has_all_the_entropy_that_it_can_have() -> None:
    found = measures.measures(head(np.full((6, 6), 1 / 6)))
    assert value(found, "entropy") == pytest.approx(np.log2(6), abs=1e-5)
    assert value(found, "evenness") == pytest.approx(1)
    assert value(found, "peak") == pytest.approx(1 / 6)
    assert value(found, "coverage") == pytest.approx(1)
    assert value(found, "special") == pytest.approx(2 / 6)
    for name in ("entropy", "evenness", "peak", "coverage", "special", "previous", "distance"):
        assert value(found, name) == pytest.approx(found.even[name], abs=1e-5)


def test_a_head_that_looks_at_itself() -> None:
    found = measures.measures(head(np.eye(6)))
    assert value(found, "entropy") == pytest.approx(0, abs=1e-6)
    assert value(found, "itself") == pytest.approx(1)
    assert [value(found, name) for name in ("distance", "previous", "next")] == pytest.approx([0, 0, 0])
    assert value(found, "coverage") == pytest.approx(1)
    assert value(found, "peak") == pytest.approx(1)


def test_a_head_that_looks_at_the_token_before() -> None:
    found = measures.measures(head(np.eye(6, k=-1) + np.eye(6) * (np.arange(6) == 0)))
    assert value(found, "previous") == pytest.approx(1)
    assert value(found, "distance") == pytest.approx(1)
    assert value(found, "first") == pytest.approx(1 / 4)  # of the four words one stands behind <s>
    assert value(found, "special") == pytest.approx(1 / 4)


def test_all_on_one_key_covers_one_key() -> None:
    weights = np.zeros((6, 6))
    weights[:, 4] = 1
    found = measures.measures(head(weights))
    assert value(found, "coverage") == pytest.approx(1 / 6)
    assert value(found, "punctuation") == pytest.approx(1)
    assert found.rows["punctuation"] == 3  # the full stop's look at itself is none at other punctuation


def test_two_by_two_by_hand() -> None:
    found = measures.measures(head([[0.25, 0.75], [0.5, 0.5]], labels=("a", " b")))
    assert value(found, "entropy") == pytest.approx((0.811278 + 1) / 2, abs=1e-5)
    assert value(found, "peak") == pytest.approx((0.75 + 0.5) / 2)
    assert value(found, "distance") == pytest.approx((0.75 + 0.5) / 2)
    assert value(found, "next") == pytest.approx(0.75)
    assert value(found, "previous") == pytest.approx(0.5)
    assert value(found, "itself") == pytest.approx((0.25 + 0.5) / 2)
    assert value(found, "coverage") == pytest.approx((0.75 + 1) / 2)  # columns sum to 0.75 and 1.25


def test_a_decoder_row_with_a_single_key_does_not_count() -> None:
    weights = np.tril(np.ones((3, 3))) / np.arange(1, 4)[:, None]
    found = measures.measures(head(weights, labels=("a", " b", " c"), kind="decoder"))
    assert found.rows["peak"] == 2
    assert value(found, "peak") == pytest.approx((1 / 2 + 1 / 3) / 2)
    assert value(found, "evenness") == pytest.approx(1)
    assert "next" not in found.values  # the causal mask closes it


def test_the_same_word_is_found_in_pieces_and_with_other_capitals() -> None:
    labels = ("Kau", "fen", " b", " kau", "fen")
    weights = np.full((5, 5), 0.1)
    weights[0] = [0, 0.4, 0, 0.35, 0.25]
    weights[1] = [0.5, 0, 0, 0.5, 0]
    weights[3], weights[4] = [0.2, 0.1, 0.7, 0, 0], [0, 0, 1, 0, 0]
    weights[2] = 0.2
    found = measures.measures(head(weights, labels=labels))
    assert found.rows["same"] == 4
    assert value(found, "same") == pytest.approx((0.6 + 0.5 + 0.3 + 0) / 4)


def test_cross_attention_measures_copies_steps_and_alignment() -> None:
    found = measures.measures(head(np.eye(6), kind="cross"))
    assert value(found, "same") == pytest.approx(1)
    assert found.rows["same"] == 3  # a, b, c; the full stop is no word
    assert value(found, "diagonal") == pytest.approx(1)
    assert value(found, "alignment") == pytest.approx(1)
    assert {"previous", "next", "itself", "distance"}.isdisjoint(found.values)


def test_the_share_of_two_equal_heads_is_a_half_and_without_values_unknown() -> None:
    one = head(np.full((6, 6), 1 / 6))
    q, k = (np.concatenate([half] * 2, axis=1) for half in (one.queries, one.keys))
    v = np.ones((1, 2, 6, 3), np.float32)
    out = np.ones((1, 6, 2, 3), np.float32)
    two = dataclasses.replace(one, q=q, k=k, v=v, out=out)
    np.testing.assert_allclose(measures.measures(two).values["share"], [[0.5, 0.5]], rtol=1e-6)
    without = measures.measures(dataclasses.replace(one, q=q, k=k))
    assert np.isnan(without.values["share"]).all()
    assert "share" not in without.defined


def test_blocks_of_rows_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    attention = records.encoder_decoder().attention("cross")
    whole = measures.measures(attention)
    monkeypatch.setattr(measures, "BLOCK", 2 * attention.shape[1] * attention.shape[3])
    assert len(list(measures.row_blocks(attention))) > 3
    parts = measures.measures(attention)
    for name in whole.values:
        np.testing.assert_allclose(parts.values[name], whole.values[name], rtol=1e-5, err_msg=name)
    assert parts.rows == whole.rows


@pytest.mark.slow
@settings(max_examples=60)
@given(records.attentions())
def test_every_measure_is_within_its_range(attention: Attention) -> None:
    found = measures.measures(attention)
    assert list(found.values) == [measure.name for measure in head_measures.of_kind(attention.kind)]
    for name, values in found.values.items():
        assert values.shape == attention.shape[:2]
        known = values[np.isfinite(values)]
        highest = head_measures.MEASURES[name].highest
        most = highest if highest is not None else max(np.log2(attention.shape[3]), attention.shape[3])
        assert ((known >= -1e-5) & (known <= most + 1e-5)).all(), name
        if name != "share":  # this one needs the values too
            assert np.isfinite(values).all() == (found.rows[name] > 0)


@pytest.mark.slow
@settings(max_examples=40)
@given(records.records(), st.data())
def test_a_record_of_any_shape_is_measured(record: object, data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(record.kinds))  # type: ignore[attr-defined]
    found = measures.of_record(record, kind)  # type: ignore[arg-type]
    assert found.shape == record.attention(kind).shape[:2]  # type: ignore[attr-defined]


def test_a_text_of_special_tokens_alone_has_no_numbers() -> None:
    found = measures.measures(head(np.full((2, 2), 0.5), labels=("<s>", "</s>")))
    assert found.defined == ("coverage",)


def cells(array: Callable[[object], Any], kind: Kind = "encoder") -> Cells:
    """Two texts of one batch: "a b" and the single token "a", padded."""
    valid = [[True, True], [True, False]]
    mask = [[row if there else [False, False] for there in row] for row in valid]
    sides = [
        Side(
            ids=array([[5, 6], [5, 1]]),
            special=array([[False, False], [False, True]]),
            punctuation=array([[False, True], [False, False]]),
            groups=array([[0, 1], [0, -1]]),
            words=array([[0, 1], [0, -1]]),
            codes=array([[0, 1], [0, -1]]),
            length=array([2, 1]),
        )
        for _ in range(2)
    ]
    query, key = sides if kind == "cross" else sides[:1] * 2
    pair = Pair(kind, query, key, query, array(mask))
    return Cells(pair, seen=array(valid), counts=array([[True, True], [False, False]]), rows=ALL)


def tensor(values: object) -> torch.Tensor:
    return torch.from_numpy(np.asarray(values))


WEIGHTS = (((0.25, 0.75), (0.5, 0.5)), ((1.0, 0.0), (0.5, 0.5)))


@pytest.mark.parametrize("array", [np.asarray, tensor])
@pytest.mark.parametrize("with_scores", [False, True])
def test_numpy_and_torch_give_the_numbers_of_a_person(array: Callable[[object], Any], with_scores: bool) -> None:
    """In 64 bits; scores are logarithms of the weights and a number for each row, as before a softmax."""
    at = cells(array)
    block = Block("encoder", at, array([0.0]).dtype)
    weights = array([[rows] for rows in WEIGHTS])  # (B, 1, Q, K)
    scores = array(np.log(np.maximum(WEIGHTS, 1e-300))[:, None] + np.array([[3.0], [-7.0]])) if with_scores else None
    lengths = array([[[3.0, 1.0]], [[1.0, 1.0]]])
    sums = dict(
        zip(block.names, np.moveaxis(np.asarray(block.sums(Weights(at, weights, scores, lengths))), -1, 0), strict=True)
    )
    wanted = {
        "entropy": 0.25 * 2 + 0.75 * np.log2(4 / 3) + 1,
        "evenness": 0.25 * 2 + 0.75 * np.log2(4 / 3) + 1,
        "peak": 0.75 + 0.5,
        "distance": 0.75 + 0.5,
        "previous": 0.5,
        "next": 0.75,
        "itself": 0.25 + 0.5,
        "same": 0,
        "first": 0.5,
        "special": 0,
        "punctuation": 0.75,
        "share": 2,
    }
    assert {name: float(sums[name][0, 0]) for name in wanted} == pytest.approx(wanted, abs=1e-12)
    assert all(float(total[1, 0]) == 0 for total in sums.values())  # the single token sees only itself
    number = {name: int(block.number[0, block.names.index(name)]) for name in wanted}
    one, none = ("previous", "next", "first", "punctuation"), ("same", "special")
    assert number == {name: 1 if name in one else 0 if name in none else 2 for name in wanted}
    got = measures.of_columns(
        "encoder", Received(block.received(Weights(at, weights)), array([[True, True], [True, False]]), array([2, 1]))
    )
    assert [float(values[0]) for values in got["coverage"]] == pytest.approx([(0.75 + 1) / 2, 1])


def test_every_measure_is_a_function() -> None:
    assert all(measure.compute is not None for measure in head_measures.MEASURES.values())


def test_every_measure_is_written_down() -> None:
    table = head_measures.definitions("cross")
    assert list(table["measure"]) == [measure.title for measure in head_measures.of_kind("cross")]
    assert len(head_measures.definitions()) == len(head_measures.MEASURES)
    assert not (head_measures.definitions() == "").any(axis=None)


@pytest.mark.parametrize("name", head_measures.MEASURES)
def test_a_measure_is_compared_with_a_number_worked_out_by_hand(name: str) -> None:
    written = f'"{name}"' in Path(__file__).read_text("utf-8")
    assert written, f"no test above has a head whose {name} anyone can work out"
