"""The parts of a layer sum up to the network's own next state, and are those that its modules put out."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
import torch

import bartviz
from bartviz.analysis.residual import Stack
from bartviz.errors import SettingError
from bartviz.experiments.residual import residual
from bartviz.models.model import Model
from bartviz.record.record import Record
from tests.support import loaded, networks

TEXT = "The cat is sleeping on the sofa."


def made(model: Model, **more: Any) -> Record:
    target = "Die Katze." if model.info.kind == "encoder-decoder" else None
    return bartviz.capture(model, TEXT, target=target, **more)


@pytest.mark.some
@pytest.mark.parametrize("family", networks.FAMILIES)
def test_the_sum_is_the_networks_own_next_state(family: str) -> None:
    model = loaded.model(family)
    record = made(model)
    if "experts" in networks.FAMILIES[family].family.keys:
        with pytest.raises(SettingError, match="several feed-forward networks"):
            residual(model, record, "decoder", 0, 2)
        return
    for stack in ("encoder", "decoder"):
        attention = getattr(record, stack)
        for layer in range(0 if attention is None else attention.shape[0]):
            one = residual(model, record, stack, layer, 2)
            assert one.error <= 1e-5
            assert next(iter(one.added)) == "self-attention"
            assert ("cross-attention" in one.added) == (stack == "decoder" and record.cross is not None)
            assert one.token == attention.query.labels[2]


# Of two families with other orders of LayerNorm: the modules that add to a decoder's layer 1.
MODULES: dict[str, dict[str, str]] = {
    "bart": {
        "self-attention": "model.decoder.layers.1.self_attn",
        "cross-attention": "model.decoder.layers.1.encoder_attn",
        "feed-forward": "model.decoder.layers.1.fc2",
    },
    "gpt2": {"self-attention": "transformer.h.1.attn", "feed-forward": "transformer.h.1.mlp"},
}


@pytest.mark.parametrize("family", MODULES)
def test_each_part_is_what_its_module_puts_out(family: str) -> None:
    model = loaded.model(family)
    record = made(model)
    network = copy.deepcopy(loaded.reference(family))  # transformers' own kernels, with hooks of this test
    seen: dict[str, torch.Tensor] = {}

    def keep(name: str) -> Any:
        return lambda module, given, out: seen.update({name: out[0] if isinstance(out, tuple) else out})

    for name, path in MODULES[family].items():
        network.get_submodule(path).register_forward_hook(keep(name))
    given = {"input_ids": torch.from_numpy(record.source.ids.copy())[None]}
    if record.cross is not None:
        given["decoder_input_ids"] = torch.from_numpy(record.attention("decoder").query.ids.copy())[None]
    with torch.inference_mode():
        network(**given)
    one = residual(model, record, "decoder", 1, 3)
    assert set(one.added) == set(MODULES[family])
    for name, vector in one.added.items():
        np.testing.assert_allclose(vector, seen[name].reshape(-1, 32)[3], rtol=1e-3, atol=1e-4)


def test_silenced_heads_add_nothing() -> None:
    model = loaded.model("bart")
    heads = [f"encoder L1H{head}" for head in range(4)]
    one = residual(model, made(model, ablate=heads), "encoder", 1, 2)
    bias = model.network.get_submodule("model.encoder.layers.1.self_attn.out_proj").bias
    np.testing.assert_allclose(one.added["self-attention"], bias.detach().numpy(), atol=1e-6)
    assert one.passed


@pytest.mark.parametrize(
    ("stack", "layer", "row", "said"),
    [("decoder", 0, 0, "no decoder"), ("encoder", 99, 0, "layer 99"), ("encoder", 0, 99, "row")],
)
def test_what_is_not_there_is_refused(stack: Stack, layer: int, row: int, said: str) -> None:
    model = loaded.model("bert")
    with pytest.raises(SettingError, match=said):
        residual(model, made(model), stack, layer, row)
