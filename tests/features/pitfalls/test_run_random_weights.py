"""The same architecture before any training: even rows, the same tokens, and nothing else touched."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import bartviz
from bartviz.errors import BudgetError, Cancelled
from bartviz.features.pitfalls.numbers_experiment_findings import evenness
from bartviz.features.pitfalls.run_random_weights import untrained, untrained_record
from bartviz.models import build
from tests.support import loaded, networks

TEXT = "The cat is sleeping on the sofa."


@pytest.mark.parametrize("family", ["bert", "bart", "gpt2", "t5", "marian"])
def test_random_rows_are_nearly_even_and_the_weights_say_so(family: str) -> None:
    model = loaded.model(family)
    target = "Die Katze schläft." if family in networks.ENCODER_DECODERS else None
    record = bartviz.capture(model, TEXT, target=target)
    fresh = untrained_record(model, record)
    assert not fresh.model.trained
    assert fresh.model.fingerprint != model.info.fingerprint
    assert fresh.kinds == record.kinds
    for kind in record.kinds:
        assert fresh.attention(kind).query == record.attention(kind).query
        np.testing.assert_array_equal(fresh.attention(kind).mask, record.attention(kind).mask)
    if family != "t5":  # which does not divide its scores: its random rows are not even
        assert all(one.share > 0.9 for one in evenness(fresh))


@pytest.mark.slow
def test_trained_and_untrained_networks_differ_for_the_shipped_models() -> None:
    model = bartviz.load("bart-tiny-en-de")
    record = bartviz.capture(model, "I want to buy a car.")
    fresh = untrained_record(model, record)
    assert model.info.trained
    assert not fresh.model.trained
    trained, random = ({one.kind: one.share for one in evenness(each)} for each in (record, fresh))
    assert all(random[kind] > 0.99 for kind in record.kinds)
    assert all(trained[kind] < 0.8 for kind in record.kinds)


def test_the_same_seed_draws_the_same_weights_and_neither_model_nor_dice_are_touched() -> None:
    model = loaded.model("bart")
    before = {name: weight.clone() for name, weight in model.network.state_dict().items()}
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    first, again, other = (untrained(model, seed=seed).network.state_dict() for seed in (1, 1, 2))
    assert torch.equal(torch.rand(3), expected)
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert any(not torch.equal(first[name], other[name]) for name in first)
    assert all(torch.equal(weight, before[name]) for name, weight in model.network.state_dict().items())


def test_without_room_for_a_second_network_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "free_memory", lambda: 10)
    with pytest.raises(BudgetError, match="second network"):
        untrained(loaded.model("bart"))


def test_it_can_be_cancelled() -> None:
    model = loaded.model("bert")
    record = bartviz.capture(model, TEXT)
    with pytest.raises(Cancelled):
        untrained_record(model, record, cancelled=lambda: True)
