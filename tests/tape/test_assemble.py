"""Values and output projections on the tape: contributions sum to the output of the network's blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import bartviz
from bartviz.analysis import contributions
from bartviz.record.attention import Head, Kind
from bartviz.record.record import Record
from bartviz.run import memory_limit
from bartviz.tape.tape import depths
from tests.support import loaded, networks

TEXT = "The cat is sleeping on the sofa, but the children played outside."
TARGET = "Die Katze schläft auf dem Sofa."
ENDINGS: Mapping[Kind, tuple[str, ...]] = {
    "encoder": (
        "encoder.layers.{}.self_attn.out_proj",
        "encoder.block.{}.layer.0.SelfAttention.o",
        "encoder.layer.{}.attention.output.dense",
        "transformer.layer.{}.attention.out_lin",
        "albert_layer_groups.0.albert_layers.0.attention.dense",
        "model.layers.{}.attn.Wo",
        "model.layers.{}.self_attn.o_proj",
    ),
    "decoder": (
        "decoder.layers.{}.self_attn.out_proj",
        "decoder.block.{}.layer.0.SelfAttention.o",
        "transformer.h.{}.attn.c_proj",
        "gpt_neox.layers.{}.attention.dense",
        "biogpt.layers.{}.self_attn.out_proj",
        "model.layers.{}.self_attn.o_proj",
        "model.layers.{}.self_attn.dense",
    ),
    "cross": ("decoder.layers.{}.encoder_attn.out_proj", "decoder.block.{}.layer.1.EncDecAttention.o"),
}


@contextmanager
def blocks(network: nn.Module, stacks: Mapping[Kind, int]) -> Iterator[dict[tuple[Kind, int], list[Tensor]]]:
    """What each block's projection puts out while the block runs, each call (Q, D), by a hook of torch's own."""
    seen: dict[tuple[Kind, int], list[Tensor]] = {}
    handles = []
    for kind, depth in stacks.items():
        for layer in range(depth):
            endings = tuple(ending.format(layer) for ending in ENDINGS[kind])
            found = [module for name, module in network.named_modules() if name.endswith(endings)]
            assert len(found) == 1, (kind, layer)

            def keep(module: nn.Module, args: object, out: Tensor, place: tuple[Kind, int] = (kind, layer)) -> None:
                seen.setdefault(place, []).append(out[0])

            handles.append(found[0].register_forward_hook(keep))
    try:
        yield seen
    finally:
        for handle in handles:
            handle.remove()


def ran(family: str, **options: object) -> tuple[Record, dict[tuple[Kind, int], Tensor]]:
    """A record with values, and what each block of its run put out (Q, D)."""
    model = loaded.model(family)
    target = TARGET if family in networks.ENCODER_DECODERS else None
    with blocks(model.network, depths(model.network)) as seen:
        record = bartviz.capture(model, TEXT, target=target, values=True, **options)  # type: ignore[arg-type]
    if family == "albert":  # one module, called layer by layer
        return record, {("encoder", layer): out for layer, out in enumerate(seen["encoder", 0])}
    return record, {place: torch.cat(calls) for place, calls in seen.items()}


@pytest.mark.some
@pytest.mark.slow
@pytest.mark.parametrize("family", networks.FAMILIES)
def test_contributions_sum_to_what_the_block_puts_out(family: str) -> None:
    record, real = ran(family)
    assert {kind for kind, _ in real} == set(record.kinds)
    for (kind, layer), expected in real.items():
        attention = record.attention(kind)
        scale = float(expected.abs().max())
        np.testing.assert_allclose(contributions.output(attention, layer), expected.numpy(), atol=1e-4 * scale)
        row = attention.shape[2] - 1
        parts = [
            attention.head(layer, head)[row] @ contributions.projected(attention, layer, head)
            for head in range(attention.shape[1])
        ]
        summed = np.sum(parts, axis=0)  # (D,)
        summed += 0 if attention.out_bias is None else attention.out_bias[layer]
        np.testing.assert_allclose(summed, expected[row].numpy(), atol=1e-4 * scale)


@pytest.mark.parametrize("family", ["t5", "bart", "gpt2"])
def test_so_they_do_step_by_step(family: str) -> None:
    model = loaded.model(family)
    with blocks(model.network, depths(model.network)) as seen:
        record = bartviz.decode(model, TEXT, max_new_tokens=4, values=True)
    for (kind, layer), calls in seen.items():
        expected = torch.cat(calls).numpy()[: record.attention(kind).shape[2]]  # behind them, those of the self-check
        atol = 1e-4 * float(np.abs(expected).max())
        np.testing.assert_allclose(contributions.output(record.attention(kind), layer), expected, atol=atol)


@pytest.mark.parametrize("family", ["bert", "t5", "gpt2"])
def test_silenced_heads_leave_the_bias_alone(family: str) -> None:
    kind: Kind = "decoder" if family == "gpt2" else "encoder"
    record, real = ran(family, ablate=[Head(kind, 1, head) for head in range(4)])
    attention = record.attention(kind)
    bias = 0 if attention.out_bias is None else attention.out_bias[1]
    np.testing.assert_array_equal(contributions.output(attention, 1), np.zeros_like(real[kind, 1]) + bias)
    np.testing.assert_allclose(real[kind, 1], np.zeros_like(real[kind, 1]) + bias, atol=1e-6)


def test_a_head_with_a_smaller_factor_adds_less() -> None:
    record, real = ran("bart", ablate={"cross L1H0": 0.5})
    assert record.cross is not None
    scale = float(real["cross", 1].abs().max())
    np.testing.assert_allclose(contributions.output(record.cross, 1), real["cross", 1].numpy(), atol=1e-4 * scale)


def test_t5_projects_without_a_bias() -> None:
    record, _ = ran("t5")
    assert all(record.attention(kind).out_bias is None for kind in record.kinds)


def test_the_texts_of_a_batch_share_one_projection() -> None:
    first, second = bartviz.capture_batch(loaded.model("bert"), [TEXT, "What time is it?"], values=True)
    assert first.encoder is not None
    assert second.encoder is not None
    assert first.encoder.out is not None
    assert second.encoder.out is not None
    assert np.shares_memory(first.encoder.out, second.encoder.out)


def test_without_values_nothing_of_it_is_kept() -> None:
    record = bartviz.capture(loaded.model("bert"), TEXT)
    assert record.encoder is not None
    assert (record.encoder.v, record.encoder.out, record.encoder.out_bias) == (None, None, None)


@pytest.mark.some
@pytest.mark.parametrize("values", [True, False])
@pytest.mark.parametrize("family", networks.FAMILIES)
def test_bytes_are_predicted(family: str, values: bool) -> None:
    model = loaded.model(family)
    target = TARGET if family in networks.ENCODER_DECODERS else None
    record = bartviz.capture(model, TEXT, target=target, values=values)
    rows = len(record.source) if record.decoder is None else record.decoder.shape[2]
    predicted = memory_limit.predicted_bytes(model, len(record.source), rows, values=values)
    details = [(one.windows, one.sinks) for one in map(record.attention, record.kinds)]  # a number a layer or a head
    assert predicted == record.nbytes - sum(part.nbytes for pair in details for part in pair if part is not None)


@pytest.mark.slow
def test_a_saved_record_keeps_them(tmp_path: object) -> None:
    record, _ = ran("bart")
    path = f"{tmp_path}/x.safetensors"
    record.save(path)
    assert bartviz.open(path) == record
