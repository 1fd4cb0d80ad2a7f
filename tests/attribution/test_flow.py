"""Rollout by hand, against ALTI+ written out for one BART, and as properties of every family."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import bartviz
from bartviz.analysis.residual import Stack
from bartviz.attribution.attribute import attribute
from bartviz.attribution.flow import SELF, _mixing, linear, nearer
from bartviz.attribution.question import asked
from bartviz.experiments.residual import LayerModules, residual
from tests.attribution import subjects
from tests.support import loaded, networks


def test_what_brings_the_sum_nearer_by_hand() -> None:
    parts = torch.tensor([[3.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    # the sum (2, 1) has the length 3; without each part it is (-1, 1), (2, 0), (3, 1): nearer by 1, 1, and not at all
    # where nothing does, a row keeps the part that is its own
    rows = torch.stack([parts, torch.zeros(3, 2)])
    np.testing.assert_allclose(nearer(rows, torch.tensor([0, 1])), [[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]])


def test_a_norm_of_a_sum_is_a_sum_by_hand() -> None:
    norm = nn.LayerNorm(4, eps=1e-12)
    with torch.no_grad():
        norm.weight.copy_(torch.tensor([1.0, 2.0, 1.0, 1.0]))
        norm.bias.copy_(torch.tensor([5.0, 5.0, 5.0, 5.0]))
        parts = torch.tensor([[2.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0]])
        rows = torch.stack([parts, 2 * parts])  # a norm makes the same of twice a vector
        # the sum (2, 2, 0, 0) has the mean 1 and the deviation 1: of each part its own mean 1/2 is subtracted
        expected = [[1.5, -1.0, -0.5, -0.5], [-0.5, 3.0, -0.5, -0.5]]
        np.testing.assert_allclose(linear(norm, rows.sum(1))(rows), [expected, expected], atol=1e-6)
        root = nn.RMSNorm(4, eps=1e-12)
        root.weight.copy_(torch.tensor([1.0, 2.0, 1.0, 1.0]))
        # the root of the mean square of (2, 2, 0, 0) is the root of 2; nothing is subtracted
        expected = [[2**0.5, 0, 0, 0], [0, 2 * 2**0.5, 0, 0]]
        np.testing.assert_allclose(linear(root, rows.sum(1))(rows), [expected, expected], atol=1e-6)


def written_out(family: str) -> tuple[Tensor, Tensor]:
    """(M, S) and (M, M): ALTI+ of a BART as its papers write it, token by token, from the eager network in float64."""
    module, one = subjects.network(family), subjects.record(family)
    with torch.no_grad():
        out = module(**subjects.given(one), output_attentions=True, output_hidden_states=True)

    def block(attention: Any, norm: nn.LayerNorm, weights: Tensor, queries: Tensor, keys: Tensor) -> Any:
        """The vectors that each row is the sum of (Q, K + 1, D), the last one its own, and the rows after the block."""
        heads, size = weights.shape[0], queries.shape[1] // weights.shape[0]
        values = attention.v_proj(keys).reshape(len(keys), heads, size)
        out_weight = attention.out_proj.weight.reshape(-1, heads, size)
        vectors = torch.einsum("hqk,khd,Dhd->qkD", weights, values, out_weight)
        vectors = torch.cat([vectors, queries[:, None]], 1)
        whole = vectors.sum(1) + attention.out_proj.bias  # (Q, D)
        deviation = (whole.var(-1, unbiased=False) + norm.eps).sqrt()
        normed = (vectors - vectors.mean(-1, keepdim=True)) / deviation[:, None, None] * norm.weight
        return normed, norm(whole)

    def contributions(vectors: Tensor) -> Tensor:
        whole = vectors.sum(1)
        near = (whole.abs().sum(-1)[:, None] - (whole[:, None] - vectors).abs().sum(-1)).clamp(min=0)
        return near / near.sum(1, keepdim=True)

    def with_own(vectors: Tensor) -> Tensor:
        joined = vectors[:, :-1].clone()
        for row in range(len(joined)):
            joined[row, row] += vectors[row, -1]
        return joined

    with torch.no_grad():
        encoder = torch.eye(len(one.source), dtype=torch.float64)
        for index, layer in enumerate(module.model.encoder.layers):
            states = out.encoder_hidden_states[index][0]
            vectors, _ = block(
                layer.self_attn, layer.self_attn_layer_norm, out.encoder_attentions[index][0], states, states
            )
            encoder = contributions(with_own(vectors)) @ encoder
        count = one.attention("decoder").shape[2]
        target = torch.eye(count, dtype=torch.float64)
        source = torch.zeros(count, len(one.source), dtype=torch.float64)
        memory = out.encoder_last_hidden_state[0]
        for index, layer in enumerate(module.model.decoder.layers):
            states = out.decoder_hidden_states[index][0]
            vectors, after = block(
                layer.self_attn, layer.self_attn_layer_norm, out.decoder_attentions[index][0], states, states
            )
            own = contributions(with_own(vectors))
            vectors, _ = block(
                layer.encoder_attn, layer.encoder_attn_layer_norm, out.cross_attentions[index][0], after, memory
            )
            through = contributions(vectors)
            target = through[:, -1:] * (own @ target)
            source = through[:, :-1] + through[:, -1:] * (own @ source)
    return source @ encoder, target


@pytest.mark.slow
def test_it_is_what_the_papers_write() -> None:
    found = attribute(loaded.model("bart"), subjects.record("bart"), method="rollout")
    source, target = written_out("bart")
    assert found.earlier_values is not None
    np.testing.assert_allclose(found.values, source[found.rows.copy()], atol=1e-4)
    np.testing.assert_allclose(found.earlier_values, target[found.rows.copy()], atol=1e-4)


@pytest.mark.slow
@pytest.mark.some("bart", "t5", "gpt2", "bert", "albert", "gemma2", "olmo2", "gpt_oss")
@pytest.mark.parametrize("family", networks.FAMILIES)
def test_rows_are_shares_and_sum_to_one(family: str) -> None:
    one = subjects.record(family)
    found = bartviz.attribute(loaded.model(family), one, method="rollout")
    sums = found.values.sum(axis=1)
    assert found.values.min() >= 0
    if found.earlier_values is not None:
        assert found.earlier_values.min() >= 0
        assert 0 < found.earlier_values.sum(axis=1).mean() < 1
        sums = sums + found.earlier_values.sum(axis=1)
        assert not np.triu(found.earlier_values, 1 + int(found.rows[0])).any()
    np.testing.assert_allclose(sums, 1, atol=1e-5)


@pytest.mark.slow
@pytest.mark.some("bart", "t5", "gpt2", "bert", "gemma2", "olmo2")
@pytest.mark.parametrize("family", networks.FAMILIES)
def test_the_parts_sum_to_the_networks_own_state(family: str) -> None:
    model, one = loaded.model(family), subjects.record(family)
    if "experts" in networks.FAMILIES[family].family.keys:
        pytest.skip("its residual sum is not shown")
    question = asked(model, one, token=None, contrast=None, step=None, cancelled=lambda: False)
    stack: Stack = "encoder" if one.encoder is not None else "decoder"
    for layer in range(one.attention(stack).shape[0]):
        states = question.outcome.hidden[stack][layer][0]
        with torch.no_grad():
            _, after = _mixing(question, LayerModules(model, stack, layer), stack, layer, states)
            expected = residual(model, one, stack, layer, 2).states[SELF]
        np.testing.assert_allclose(after[2], expected, rtol=1e-3, atol=1e-4 * max(1.0, float(np.abs(expected).max())))
