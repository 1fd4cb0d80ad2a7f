"""Weights between two models."""

from __future__ import annotations

import pytest
import torch

from bartviz.families.catalogue import EMBEDDED
from training.blend import blended
from training.measure import load


def test_a_blend_is_between_the_two() -> None:
    before, after = {"w": torch.tensor([0.0, 4.0])}, {"w": torch.tensor([1.0, 0.0])}
    assert blended(before, after, 0.75)["w"].tolist() == [0.75, 1.0]
    assert blended(before, after, 0.0)["w"].tolist() == [0.0, 4.0]


def test_models_of_other_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="one shape"):
        blended({"a": torch.zeros(1)}, {"b": torch.zeros(1)}, 0.5)


def test_a_model_of_either_kind_is_read_from_its_folder() -> None:
    for name, network in (("bert-tiny-en", "BertForPreTraining"), ("bart-tiny-en-de", "BartForConditionalGeneration")):
        model, _tokenizer = load(EMBEDDED / name)
        assert type(model).__name__ == network
