"""GELU and ReLU against torch, and the name of a model's own activation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers.activations import ACT2FN

from bartviz.analysis import activations
from bartviz.families.catalogue import entry
from tests.support import loaded, networks, stand_in


@pytest.mark.parametrize("name", activations.CURVES)
def test_the_curves_are_those_of_the_models(name: str) -> None:
    x = np.linspace(-4, 4, 81)
    expected = ACT2FN[name](torch.from_numpy(x)).numpy()
    np.testing.assert_allclose(activations.CURVES[name][1](x), expected, atol=1e-6)


def test_gelu_by_hand() -> None:
    # Phi(1) = 0.841345
    np.testing.assert_allclose(activations.gelu(np.array([0.0, 1.0, -1.0])), [0, 0.841345, -0.158655], atol=1e-6)
    assert activations.relu(np.array([-2.0, 3.0])).tolist() == [0, 3]


@pytest.mark.some
@pytest.mark.parametrize("family", networks.FAMILIES)
def test_a_model_says_its_own(family: str) -> None:
    info = loaded.model(family).info
    name, source = activations.activation_function(info)
    assert name in ACT2FN
    known = networks.FAMILIES[family].family
    gates = family == "t5-gated" or known.gates or known.activation[1].startswith("gated-")
    assert name == ("gelu_new" if known.gated is not None and gates else known.activation[1])
    assert name in activations.CURVES
    assert source == "the model's configuration"
    assert activations.gated(info) == gates
    assert ("second matrix" in activations.sentence(info)) == gates


def test_older_records_name_where_it_is_known_from() -> None:
    info = stand_in.model_info()
    assert activations.activation_function(info) == ("gelu", "the default of BART")
    t5 = replace(info, name="t5-small", family="t5")
    assert activations.activation_function(t5) == ("relu", "the model's configuration")
    assert "ReLU" in activations.sentence(t5)
    assert not activations.gated(t5)
    newer = replace(info, name="google/t5-v1_1-small", family="t5", activation="gelu_new")
    assert entry(newer.name) is None or activations.gated(newer)


@pytest.mark.parametrize(
    ("family", "word"), [("bart", "post-norm"), ("t5", "pre-norm"), ("gpt2", "pre-norm"), ("olmo2", "what each block")]
)
def test_where_a_family_normalises(family: str, word: str) -> None:
    said = activations.norm_sentence(replace(stand_in.model_info(), family=family))
    assert word in said
    assert "not measured" in said
