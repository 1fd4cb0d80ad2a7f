"""The shapes of all states, against what transformers returns."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import bartviz
from bartviz.features.map import numbers_shapes
from tests.support import loaded


@pytest.mark.parametrize("family", ["bart", "t5", "bert", "gpt2"])
def test_shapes_are_those_that_transformers_returns(family: str) -> None:
    target = "Die Katze." if family in ("bart", "t5") else None
    record = bartviz.capture(loaded.model(family), "The cat is sleeping on the sofa.", target=target)
    network = loaded.reference(family)
    given: dict[str, Any] = {"input_ids": torch.from_numpy(record.source.ids.copy())[None]}
    if record.cross is not None:
        given["decoder_input_ids"] = torch.from_numpy(record.attention("decoder").query.ids.copy())[None]
    with torch.inference_mode():
        out = network(**given, output_attentions=True, output_hidden_states=True)
    named = {name: (shape, count) for name, _said, _letters, shape, count in numbers_shapes.of(record)}
    seen = 0
    for name, value in {**given, **out}.items():
        if name in named and isinstance(value, tuple):
            assert {tuple(one.shape) for one in value} == {named[name][0]}, name
            assert named[name][1].endswith(str(len(value))), name
            seen += 1
        elif name in named and isinstance(value, torch.Tensor):
            assert tuple(value.shape) == named[name][0], name
            seen += 1
    assert seen >= (8 if record.cross is not None else 3)
    if numbers_shapes.CACHE in named:
        assert tuple(out.past_key_values.layers[0].keys.shape) == named[numbers_shapes.CACHE][0]
    if record.cross is not None:
        layers = out.past_key_values
        own, cross = layers.self_attention_cache.layers[0], layers.cross_attention_cache.layers[0]
        assert tuple(own.keys.shape) == named["past_key_values.self_attention_cache"][0]
        assert tuple(cross.values.shape) == named["past_key_values.cross_attention_cache"][0]
    assert len(numbers_shapes.shapes(record)) == len(numbers_shapes.of(record))
