"""Value zeroing against the eager network with a hook on the projection that makes values."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import bartviz
from bartviz.attribution import zeroing
from bartviz.attribution.question import asked
from tests.attribution import subjects
from tests.support import loaded

# The module that makes the values of layer {}, by family and side, and which third of its output they are.
VALUES: dict[str, dict[str, tuple[str, slice]]] = {
    "bart": {
        "source": ("model.decoder.layers.{}.encoder_attn.v_proj", slice(None)),
        "output": ("model.decoder.layers.{}.self_attn.v_proj", slice(None)),
    },
    "t5": {
        "source": ("decoder.block.{}.layer.1.EncDecAttention.v", slice(None)),
        "output": ("decoder.block.{}.layer.0.SelfAttention.v", slice(None)),
    },
    "bert": {"source": ("bert.encoder.layer.{}.attention.self.value", slice(None))},
    "gpt2": {"source": ("transformer.h.{}.attn.c_attn", slice(64, 96))},
}

# What projects the heads' outputs of layer {}.
OUTPUT = {
    "bart": ("cross", "model.decoder.layers.{}.encoder_attn.out_proj"),
    "bert": ("encoder", "bert.encoder.layer.{}.attention.output.dense"),
}


@contextmanager
def zeroed(module: nn.Module, part: slice, place: int) -> Iterator[None]:
    def zero(_module: nn.Module, _inputs: Any, out: Tensor) -> Tensor:
        changed = out.clone()
        changed[:, place, part] = 0
        return changed

    handle = module.register_forward_hook(zero)
    yield
    handle.remove()


@pytest.mark.slow
@pytest.mark.parametrize("family", VALUES)
def test_shares_are_those_of_states_with_a_value_at_zero(family: str) -> None:
    one, module = subjects.record(family), subjects.network(family)
    rows, _ids = subjects.steps(family)
    found = bartviz.attribute(loaded.model(family), one, method="value zeroing")
    name = "decoder_hidden_states" if one.cross is not None else "hidden_states"

    def states() -> list[Tensor]:
        return [state[0, rows] for state in module(**subjects.given(one), output_hidden_states=True)[name]]

    for side, (path, part) in VALUES[family].items():
        values = found.values if side == "source" else found.earlier_values
        assert values is not None
        with torch.no_grad():
            own = states()
            layers = len(own) - 1
            expected = np.zeros(values.shape)
            for layer in range(layers):
                distance = np.zeros(values.shape)
                for place in range(values.shape[1]):
                    with zeroed(module.get_submodule(path.format(layer)), part, place):
                        moved = states()[layer + 1]
                    distance[:, place] = 1 - torch.nn.functional.cosine_similarity(own[layer + 1], moved, dim=-1)
                expected += distance / distance.sum(axis=1, keepdims=True) / layers
        np.testing.assert_allclose(values, expected, atol=1e-4)
        np.testing.assert_allclose(values.sum(axis=1), 1, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(("family", "layers"), [("bart", (0,)), ("bert", (1, 2)), ("bart", None)])
def test_layers_that_add_nothing_have_no_part(family: str, layers: tuple[int, ...] | None) -> None:
    """A layer whose projections are 0 moves no state, and the mean is that of the others; of none: even."""
    one, (side, path) = loaded.model(family), OUTPUT[family]
    depth = subjects.record(family).attention(side).shape[0]
    silent = range(depth) if layers is None else layers
    network = copy.deepcopy(one.network)
    with torch.no_grad():
        for layer in silent:
            for parameter in network.get_submodule(path.format(layer)).parameters():
                parameter.zero_()
    model = bartviz.wrap(network, one.tokenizer)
    options: dict[str, Any] = {"target": subjects.TARGET} if side == "cross" else {"allow_special": True}
    record = bartviz.capture(model, subjects.record(family).source_text, **options)
    found = bartviz.attribute(model, record, method="value zeroing").values
    kind = record.attention(side).kind
    question = asked(model, record, token=None, contrast=None, step=None, cancelled=bool)
    each = np.delete(zeroing._distances(question, kind, (0, 1)), silent, axis=0)
    shares = [part / part.sum(axis=1, keepdims=True) for part in each]
    expected = np.mean(shares, axis=0) if shares else np.full(found.shape, 1 / found.shape[1])
    np.testing.assert_allclose(found, expected, atol=1e-6)
