"""Networks with adapters: a stand-in for PEFT, which is not among our packages, with the interface of its layers."""

from __future__ import annotations

import copy
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import bartviz
from bartviz.errors import BudgetError, ModelError
from bartviz.models import build
from tests.support import networks

IDS = torch.tensor([[0, 17, 30, 6, 22, 9, 41, 2]])
TEXT = "The cat is sleeping on the sofa."


class Adapted(nn.Module):
    """A linear layer and what its adapter adds, as PEFT's BaseTunerLayer has them."""

    def __init__(self, base: nn.Linear) -> None:
        super().__init__()
        self.base_layer, self.merged, self.disable_adapters = base, False, False
        self.delta = nn.Parameter(torch.randn(base.weight.shape) * 0.2)

    def get_base_layer(self) -> nn.Linear:
        return self.base_layer

    def merge(self) -> None:
        self.base_layer.weight.data += self.delta.data
        self.merged = True

    def unmerge(self) -> None:
        self.base_layer.weight.data -= self.delta.data
        self.merged = False

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        base: torch.Tensor = self.base_layer(x)
        return base if self.disable_adapters or self.merged else base + x @ self.delta.T


class Holder(nn.Module):
    """PEFT's own class around a network."""

    def __init__(self, network: nn.Module, *, prompt: bool = False) -> None:
        super().__init__()
        self.network, self.active_peft_config = network, SimpleNamespace(is_prompt_learning=prompt)

    def get_base_model(self) -> nn.Module:
        return self.network


class Whole(nn.Module):
    """A module and its copy that was trained whole, as PEFT's ModulesToSaveWrapper has them."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.original_module, self.disable_adapters, self.active_adapters = module, False, ["default"]
        self.modules_to_save = nn.ModuleDict({"default": copy.deepcopy(module)})


class Rows(nn.Module):
    """An embedding some of whose rows were trained, as PEFT's TrainableTokensWrapper has it."""

    def __init__(self, embedding: nn.Embedding) -> None:
        super().__init__()
        self.token_adapter = Adapted(embedding)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def peft(monkeypatch: pytest.MonkeyPatch) -> None:
    tuners = SimpleNamespace(tuners_utils=SimpleNamespace(BaseTunerLayer=Adapted))
    utils = SimpleNamespace(ModulesToSaveWrapper=Whole, TrainableTokensWrapper=Rows)
    monkeypatch.setitem(sys.modules, "peft", SimpleNamespace(PeftModel=Holder, tuners=tuners, utils=utils))


@pytest.fixture
def adapted() -> tuple[Any, Any]:
    """A BART with adapters in two of its layers, and its tokenizer."""
    network, words = networks.build("bart", spread=0.3)
    for layer in (network.model.encoder.layers[1].self_attn, network.model.decoder.layers[0].encoder_attn):
        layer.q_proj = Adapted(layer.q_proj)
    return network, words


def logits(network: nn.Module) -> torch.Tensor:
    with torch.no_grad():
        made: torch.Tensor = network(input_ids=IDS, decoder_input_ids=IDS[:, :5])[0]
    return made


@pytest.mark.parametrize("held", [False, True])
def test_active_adapters_count_and_the_network_is_left_as_it_was(held: bool, adapted: tuple[Any, Any]) -> None:
    network, words = adapted
    without = logits(networks.build("bart", spread=0.3)[0])
    before, weights = logits(network), {name: part.clone() for name, part in network.state_dict().items()}
    model = bartviz.wrap(Holder(network) if held else network, words)
    torch.testing.assert_close(logits(model.network), before, atol=1e-4, rtol=0)
    assert (before - without).abs().max() > 0.01
    assert bartviz.capture(model, TEXT, target="Die Katze.").sound
    assert torch.equal(logits(network), before)
    assert all(torch.equal(part, weights[name]) for name, part in network.state_dict().items())
    assert not any(module.merged for module in network.modules() if isinstance(module, Adapted))
    assert model.info.name == "BartForConditionalGeneration"


@pytest.mark.parametrize("merged", [False, True])
def test_adapters_that_are_switched_off_are_left_out(merged: bool, adapted: tuple[Any, Any]) -> None:
    network, words = adapted
    for module in network.modules():
        if isinstance(module, Adapted):
            if merged:
                module.merge()
            module.disable_adapters = True
    expected = logits(networks.build("bart", spread=0.3)[0])
    torch.testing.assert_close(logits(bartviz.wrap(network, words).network), expected, atol=1e-4, rtol=0)


def test_adapters_that_are_merged_already_are_not_added_twice(adapted: tuple[Any, Any]) -> None:
    network, words = adapted
    for module in network.modules():
        if isinstance(module, Adapted):
            module.merge()
    assert torch.equal(logits(bartviz.wrap(network, words).network), logits(network))


def test_an_adapter_that_was_trained_on_makes_the_model_stale(adapted: tuple[Any, Any]) -> None:
    network, words = adapted
    model = bartviz.wrap(network, words)
    with torch.no_grad():
        network.model.encoder.layers[1].self_attn.q_proj.delta.add_(1)
    assert model.stale()


def test_half_precision_is_merged_in_float32(adapted: tuple[Any, Any]) -> None:
    network, words = adapted
    network = network.bfloat16()
    model = bartviz.wrap(network, words)
    layer = network.model.encoder.layers[1].self_attn.q_proj
    weight = model.network.model.encoder.layers[1].self_attn.q_proj.weight
    assert torch.equal(weight, layer.base_layer.weight.float() + layer.delta.float())
    assert any("computed in float32" in notice for notice in model.notices)


def test_prompts_cannot_be_merged(adapted: tuple[Any, Any]) -> None:
    network, words = adapted
    with pytest.raises(ModelError, match="a prompt or prefix, which cannot be merged"):
        bartviz.wrap(Holder(network, prompt=True), words)


def test_a_classifier_that_was_trained_whole_takes_the_place_of_its_own() -> None:
    """As with task_type="SEQ_CLS"; switched off, or another one active, the network's own counts."""
    network, words = networks.build("bert", architecture="BertForSequenceClassification", spread=0.3)
    plain = bartviz.capture(network, TEXT, tokenizer=words).prediction
    whole = Whole(network.classifier)
    trained: Any = whole.modules_to_save["default"]
    trained.weight.data.normal_()
    network.classifier = whole
    with torch.no_grad():
        states = network.bert(torch.tensor([words(TEXT)["input_ids"]])).pooler_output
        expected = states @ trained.weight.T + trained.bias
    found = bartviz.capture(Holder(network), TEXT, tokenizer=words).prediction
    assert found is not None
    assert plain is not None
    np.testing.assert_allclose(found.logits, expected.numpy(), atol=1e-5)
    assert isinstance(network.classifier, Whole)
    for change in ({"disable_adapters": True}, {"active_adapters": ["other"], "disable_adapters": False}):
        vars(whole).update(change)
        own = bartviz.capture(network, TEXT, tokenizer=words).prediction
        assert own is not None
        np.testing.assert_array_equal(own.logits, plain.logits)


def test_rows_of_an_embedding_that_were_trained_are_merged() -> None:
    network, words = networks.build("bert", spread=0.3)
    rows = Rows(network.bert.embeddings.word_embeddings)
    expected = rows.token_adapter.base_layer.weight + rows.token_adapter.delta
    network.bert.embeddings.word_embeddings = rows
    made = bartviz.wrap(network, words).network.base_model.embeddings.word_embeddings
    torch.testing.assert_close(made.weight, expected, check_stride=False)


def test_a_network_without_adapters_is_not_copied() -> None:
    network, words = networks.build("bart")
    made = bartviz.wrap(network, words).network
    assert made.model.shared.weight.data_ptr() == network.model.shared.weight.data_ptr()


def test_a_copy_that_does_not_fit_in_memory_is_refused(
    adapted: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    network, words = adapted
    monkeypatch.setattr(build, "free_memory", lambda: 1000)
    with pytest.raises(BudgetError):
        bartviz.wrap(network, words)
