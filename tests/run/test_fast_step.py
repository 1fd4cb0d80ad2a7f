"""The fast step against the network's modules: the same logits and the same tape, or no fast step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from transformers import PreTrainedModel

import bartviz
from bartviz.errors import Cancelled
from bartviz.families.registry import FAMILIES as KNOWN
from bartviz.models.model import Model
from bartviz.record.attention import KINDS, Head
from bartviz.run.fast_step import Writer, family_of
from bartviz.run.step import Stepper
from bartviz.tape.tape import Tape, attach, recording
from tests.support import loaded, networks

FAMILIES = tuple(name for name, family in KNOWN.items() if family.fast_step)
TEXT = "The cat is sleeping on the sofa, but the children played outside."


def assert_close(ours: Tensor, theirs: Tensor, limit: float = 2e-5) -> None:
    torch.testing.assert_close(ours, theirs, rtol=limit, atol=limit)


def network(family: str, **options: Any) -> PreTrainedModel:
    made, _ = networks.build(family, **{"spread": 0.2, "trained": True} | options)
    attach(made)
    return made


def with_network(family: str, made: PreTrainedModel) -> Model:
    return replace(loaded.model(family), network=made)


@torch.inference_mode()
def run(
    model: Model,
    source: Sequence[int],
    fed: Sequence[Tensor],
    orders: Sequence[Tensor | None],
    *,
    fast: bool,
    **options: Any,
) -> tuple[list[Tensor], Tape]:
    """Logits (B, V) of every step and the tape; before step i the rows are put into order i."""
    tape = Tape(**options)
    with recording(tape):
        stepper = Stepper.start(model, torch.tensor([source]), fast=fast)
        logits = []
        for ids, order in zip(fed, orders, strict=True):
            if order is not None:
                stepper.reorder(order)
            logits.append(stepper.step(ids).clone())
    return logits, tape


def assert_same_tape(ours: Tape, theirs: Tape) -> None:
    assert ours.entries.keys() == theirs.entries.keys()
    for place, entry in ours.entries.items():
        other = theirs.entries[place]
        assert (entry.scale, entry.projection, len(entry.q)) == (other.scale, other.projection, len(other.q))
        assert len(entry.outputs) == len(other.outputs)
        pairs = [*zip(entry.q, other.q, strict=True), *zip(entry.outputs, other.outputs, strict=True)]
        for mine, reference in [*pairs, (entry.k, other.k), (entry.v, other.v)]:
            assert (mine is None) == (reference is None)
            if mine is not None and reference is not None:
                assert_close(mine, reference)
    for kind in KINDS:
        for mine, reference in zip(ours.masks[kind, 0], theirs.masks[kind, 0], strict=True):
            assert bool((mine == reference).all())
            assert mine.shape[1:] == reference.shape[1:]


@st.composite
def configurations(draw: st.DrawFn) -> dict[str, Any]:
    """Depths, widths, head counts, activation and scaling of a small network; encoder and decoder differ."""
    heads = draw(st.sampled_from([1, 2, 3, 4]))
    return {
        "d_model": 12 * draw(st.sampled_from([1, 2, 3])),
        "encoder_layers": draw(st.integers(1, 2)),
        "decoder_layers": draw(st.integers(1, 3)),
        "encoder_attention_heads": draw(st.sampled_from([1, 2, 4])),
        "decoder_attention_heads": heads,
        "decoder_ffn_dim": draw(st.integers(3, 40)),
        "activation_function": draw(st.sampled_from(["gelu", "relu", "swish", "silu", "gelu_new", "tanh"])),
        "scale_embedding": draw(st.booleans()),
        "seed": draw(st.integers(0, 5)),
    }


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.sampled_from(FAMILIES), configurations(), st.data())
def test_any_network_of_the_shape_gives_the_same_logits_and_tape(
    family: str, options: dict[str, Any], data: st.DataObject
) -> None:
    made = network(family, **options)
    assert family_of(made) is KNOWN[family]
    ids = st.integers(0, made.config.vocab_size - 1)
    source = data.draw(st.lists(ids, min_size=1, max_size=7))
    rows, steps = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 5))
    fed = [
        torch.tensor([[data.draw(ids)]]),
        *(torch.tensor([[data.draw(ids)] for _ in range(rows)]) for _ in range(steps)),
    ]
    orders: list[Tensor | None] = [None, torch.zeros(rows, dtype=torch.long)]
    orders += [torch.tensor([data.draw(st.integers(0, rows - 1)) for _ in range(rows)]) for _ in range(steps - 1)]
    head = Head(data.draw(st.sampled_from(["encoder", "decoder", "cross"])), 0, 0)
    changed = {head: 0.0} if data.draw(st.booleans()) else {}
    kept = {"values": data.draw(st.booleans()), "scale_heads": changed}
    model = with_network(family, made)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bartviz.run.fast_step._LARGE", data.draw(st.sampled_from([0, 1 << 19])))  # both kinds of product
        ours, mine = run(model, source, fed, orders, fast=True, **kept)
    theirs, reference = run(model, source, fed, orders, fast=False, **kept)
    for left, right in zip(ours, theirs, strict=True):
        assert_close(left, right)
    assert_same_tape(mine, reference)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_decode_is_the_same_record_either_way(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = loaded.model(family)
    ours = bartviz.decode(model, TEXT, max_new_tokens=70, values=True)
    monkeypatch.setattr(Writer, "of", lambda network, states: None)
    theirs = bartviz.decode(model, TEXT, max_new_tokens=70, values=True)
    assert [step.chosen.token_id for step in ours.steps] == [step.chosen.token_id for step in theirs.steps]
    assert all(check.passed for check in ours.provenance.checks)
    for kind in KINDS:
        mine, reference = getattr(ours, kind), getattr(theirs, kind)
        for name in ("q", "k", "v"):
            np.testing.assert_allclose(getattr(mine, name), getattr(reference, name), rtol=1e-4, atol=1e-4)
        np.testing.assert_array_equal(mine.mask, reference.mask)


@pytest.mark.slow
def test_more_tokens_than_there_was_room_for() -> None:
    """The room for keys is doubled at 64; what was there before is still there."""
    model = loaded.model("bart")
    fed = [torch.tensor([[5 + i % 50]]) for i in range(100)]
    ours, mine = run(model, [0, 7, 9, 2], fed, [None] * 100, fast=True)
    theirs, reference = run(model, [0, 7, 9, 2], fed, [None] * 100, fast=False)
    assert_close(ours[-1], theirs[-1], 1e-4)
    assert mine.entries["decoder", 1].k is not None
    assert mine.entries["decoder", 1].k.shape == reference.entries["decoder", 1].k.shape  # type: ignore[union-attr]


@torch.inference_mode()
def test_what_is_on_the_tape_stays_when_the_rows_are_put_into_another_order() -> None:
    model = loaded.model("bart")
    tape = Tape()
    with recording(tape):
        stepper = Stepper.start(model, torch.tensor([[0, 7, 9, 2]]))
        stepper.step(torch.tensor([[2]]))
        stepper.reorder(torch.tensor([0, 0]))
        stepper.step(torch.tensor([[8], [9]]))
        before = tape.entries["decoder", 0].k
        assert before is not None
        copied = before.clone()
        stepper.reorder(torch.tensor([1, 1]))
        stepper.step(torch.tensor([[4], [5]]))
    assert torch.equal(before, copied)
    assert not torch.equal(before[0], before[1])
    after = tape.entries["decoder", 0].k
    assert after is not None
    assert torch.equal(after[0, :, :2], after[1, :, :2])


@pytest.mark.parametrize("large", [0, 1 << 19])
def test_no_weight_is_copied(large: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both kinds of product read the memory of the network's own parameters."""
    monkeypatch.setattr("bartviz.run.fast_step._LARGE", large)
    made = network("bart")
    writer = Writer.of(made, torch.zeros(1, 1, 32))
    assert writer is not None
    with torch.no_grad():
        made.lm_head.weight.zero_()
        made.final_logits_bias.fill_(3.0)
    with torch.inference_mode():
        assert set(writer.step(torch.tensor([[2]]))[0].tolist()) == {3.0}
        writer.reorder(torch.tensor([0, 0]))
        assert set(writer.step(torch.tensor([[2], [4]]))[1].tolist()) == {3.0}


def test_a_run_is_stopped_at_the_next_layer() -> None:
    model, asked = loaded.model("bart"), 0

    def cancelled() -> bool:
        nonlocal asked
        asked += 1
        return asked == 3 + 4 + 2  # 3 layers of the encoder, one step of 2 x 2, then the second of the next

    with recording(Tape(cancelled=cancelled)), torch.inference_mode():
        stepper = Stepper.start(model, torch.tensor([[0, 7, 2]]))
        stepper.step(torch.tensor([[2]]))
        with pytest.raises(Cancelled):
            stepper.step(torch.tensor([[9]]))
    assert asked == 9


class _Other(nn.Linear):
    """A layer that somebody exchanged."""


def _exchange(made: PreTrainedModel) -> None:
    made.model.decoder.layers[0].fc1 = _Other(32, 40)


def _strange_activation(made: PreTrainedModel) -> None:
    made.model.decoder.layers[1].activation_fn = nn.Softmax(dim=1)


def _hook(made: PreTrainedModel) -> None:
    made.model.decoder.layers[0].self_attn.register_forward_hook(lambda *_: None)


def _hook_before(made: PreTrainedModel) -> None:
    made.register_forward_pre_hook(lambda *_: None)


def _own_forward(made: PreTrainedModel) -> None:
    made.lm_head.forward = lambda x: x


def _half(made: PreTrainedModel) -> None:
    made.model.decoder.layers[0].fc1.to(torch.bfloat16)


def _training(made: PreTrainedModel) -> None:
    made.train()


def _other_kernel(made: PreTrainedModel) -> None:
    made.set_attn_implementation("eager")


@pytest.mark.parametrize(
    "change", [_exchange, _strange_activation, _hook, _hook_before, _own_forward, _half, _training, _other_kernel]
)
def test_a_changed_network_is_not_known(change: Callable[[PreTrainedModel], None]) -> None:
    made = network("bart")
    assert family_of(made) is not None
    change(made)
    assert family_of(made) is None
    assert Writer.of(made, torch.zeros(1, 1, 32)) is None


@pytest.mark.parametrize("family", ["t5", "t5-gated", "gpt2", "bert"])
def test_other_families_are_not_known(family: str) -> None:
    assert family_of(network(family)) is None


def test_the_content_of_a_custom_class_is_unknown() -> None:
    made = network("bart")
    made.__class__ = type("BartForConditionalGeneration", (type(made),), {})
    assert family_of(made) is None


@pytest.mark.parametrize("family", ["bart", "marian"])
def test_a_network_whose_states_were_asked_for_still_takes_the_fast_step(family: str) -> None:
    made = network(family)
    assert family_of(made) is not None
    ids = torch.arange(5, 9)[None]
    with torch.inference_mode():
        made(input_ids=ids, decoder_input_ids=ids, output_hidden_states=True)
    assert any(module._forward_hooks for module in made.modules())  # transformers leaves them
    assert family_of(made) is not None
    made.model.decoder.layers[0].register_forward_hook(lambda *_: None)
    assert family_of(made) is None
