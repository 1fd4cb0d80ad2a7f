"""The public numbers of a record, against what is computed from its weights and values by hand."""

from __future__ import annotations

import numpy as np
import pytest

import bartviz
from bartviz.analysis import measures
from bartviz.analysis.own_measures import BothTokens
from bartviz.arrays import Floats
from bartviz.errors import SettingError
from bartviz.record.attention import Kind
from bartviz.record.record import Record
from tests.support import loaded


@pytest.fixture(scope="module")
def record() -> Record:
    return bartviz.capture(loaded.model("bart"), "the cat sat on the mat", max_new_tokens=4, values=True)


def entropy(weights: Floats, tokens: BothTokens) -> Floats:
    """Bits, over the rows that count."""
    counted = ~tokens.query.special & (tokens.mask.sum(axis=1) > 1)
    bits = -(weights * np.log2(np.where(weights > 0, weights, 1))).sum(axis=-1)  # (H, Q)
    result: Floats = bits[:, counted].mean(axis=1)
    return result


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_an_own_measure_with_the_formula_of_entropy_is_entropy(record: Record, kind: Kind) -> None:
    found = bartviz.measures(record, kind, measures={"own": entropy})
    assert np.allclose(found.values["own"], found.values["entropy"], atol=1e-5)
    assert found.even["own"] == pytest.approx(found.even["entropy"], abs=1e-5)
    known = measures.of_record(record, kind)
    assert [name for name in found.values if name != "own"] == list(known.values)


def test_padding_is_no_token_of_an_own_measure() -> None:
    model = loaded.model("bert")
    texts = ["the cat sat", "the cat sat on the mat and the dog sat too"]
    seen: list[int] = []

    def size(weights: Floats, tokens: BothTokens) -> Floats:
        assert weights.shape[1:] == tokens.mask.shape == (len(tokens.query), len(tokens.key))
        assert np.allclose(weights.sum(axis=-1), 1, atol=1e-5)
        seen.append(len(tokens.key))
        return np.full(len(weights), weights.shape[2], np.float32)

    for record, alone in zip(
        bartviz.capture_batch(model, texts), (bartviz.capture(model, text) for text in texts), strict=True
    ):
        found = bartviz.measures(record, "encoder", measures={"size": size}).values["size"]
        assert (found == len(alone.source)).all()
    assert len({*seen}) == 2


def test_the_table_has_a_line_for_each_head_and_measure(record: Record) -> None:
    found = bartviz.measures(record, "cross")
    table = found.to_dataframe()
    layers, heads = found.shape
    assert len(table) == layers * heads * len(found.values)
    line = table[(table["measure"] == "entropy") & (table["layer"] == 1) & (table["head"] == 0)]
    assert line["value"].item() == pytest.approx(float(found.values["entropy"][1, 0]))
    assert line["rows"].item() == found.rows["entropy"]


@pytest.mark.parametrize(
    ("measures", "message"),
    [
        ({"entropy": entropy}, "already"),
        ({"<b>": entropy}, "letters"),
        ({"own": 3}, "no function"),
        ({"own": lambda weights, tokens: weights}, "shape"),
        ({"own": lambda weights, tokens: np.full(len(weights), np.inf)}, "finite"),
        ({"own": lambda weights, tokens: ["a"] * len(weights)}, "expected"),
    ],
)
def test_what_is_no_measure_is_refused(record: Record, measures: dict[str, object], message: str) -> None:
    with pytest.raises(SettingError, match=message):
        bartviz.measures(record, "cross", measures=measures)  # type: ignore[arg-type]


def test_contributions_are_the_lengths_of_what_keys_add(record: Record) -> None:
    attention = record.attention("cross")
    assert attention.v is not None
    assert attention.out is not None
    found = bartviz.contributions(record)
    layer, head, row, key = 1, 0, 2, 3
    added = attention.head(layer, head)[row, key] * (attention.out[layer, :, head] @ attention.v[layer, head, key])
    assert found.shape == attention.shape
    assert found[layer, head, row, key] == pytest.approx(float(np.linalg.norm(added)), rel=1e-4)


def test_rollout_of_one_layer_is_half_its_mean_and_half_the_residual(record: Record) -> None:
    mean = record.attention("encoder").layer(0).mean(axis=0)
    assert np.allclose(bartviz.rollout(record, layer=0), 0.5 * mean + 0.5 * np.eye(len(mean)), atol=1e-6)
    causal = bartviz.rollout(record, "decoder")
    assert np.allclose(np.triu(causal, 1), 0)
    with pytest.raises(SettingError, match="one text"):
        bartviz.rollout(record, "cross")
