"""Every family beside transformers' own: weights no less exact than eager's, and the tokens of generate()."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import Tensor

import bartviz
from bartviz.record.attention import Kind
from bartviz.record.record import Record
from tests.support import loaded, networks, writers

TEXT = "The cat is sleeping on the sofa, but the children played outside: what time is it?"
TARGET = "Die Katze schläft auf dem Sofa, aber die Kinder spielten draußen. Ich will ein Auto kaufen."
SCALED_OR_CAPPED = {"t5", "t5-gated", "mt5", "umt5", "cohere", "cohere2", "gemma2"}
WRITERS = tuple(name for name, recipe in networks.FAMILIES.items() if recipe.family.kind != "encoder")


def eager(family: str, record: Record, *, double: bool) -> dict[Kind, tuple[Tensor, ...]]:
    """Weights (1, H, Q, K) of each layer by transformers' eager attention, computed in float64 if ``double``."""
    network = loaded.reference(family)
    inputs = {"input_ids": torch.from_numpy(record.source.ids.copy())[None]}
    if record.cross is not None:
        inputs["decoder_input_ids"] = torch.from_numpy(record.cross.query.ids.copy())[None]
    if double:
        network = copy.deepcopy(network).double()
        network.set_experts_implementation("eager")  # the fused one has no float64
    with torch.inference_mode():
        out = network(**inputs, output_attentions=True)
    if record.cross is not None:
        return {"encoder": out.encoder_attentions, "decoder": out.decoder_attentions, "cross": out.cross_attentions}
    return {record.kinds[0]: out.attentions}


@pytest.mark.some
@pytest.mark.slow
@pytest.mark.parametrize("family", networks.FAMILIES)
def test_weights_are_as_exact_as_those_of_eager_attention(family: str) -> None:
    """Their error against float64 is at most a few times eager's own, and a millionth.

    Which of the two kernels a processor rounds better is a matter of luck: of T5's gated kin one has 3.6 times the
    error of the other on some.
    """
    target = TARGET if family in networks.ENCODER_DECODERS else None
    record = bartviz.capture(loaded.model(family), TEXT, target=target)
    assert len(record.source) > 16
    exact, single = eager(family, record, double=True), eager(family, record, double=False)
    for kind in record.kinds:
        attention = record.attention(kind)
        assert attention.shape[:2] == (len(exact[kind]), exact[kind][0].shape[1])
        pairs = list(zip(exact[kind], single[kind], strict=True))
        own = max(float((eagers[0].double() - known[0]).abs().max()) for known, eagers in pairs)
        for layer, (known, _) in enumerate(pairs):
            apart = float((torch.tensor(attention.layer(layer)).double() - known[0]).abs().max())
            assert apart <= 6 * own + 1e-6, (kind, layer)


@pytest.mark.some
@pytest.mark.slow
@pytest.mark.parametrize("family", WRITERS)
def test_greedy_decoding_writes_what_generate_writes(family: str) -> None:
    """More tokens than a window holds, so that rows of it are decoded one by one too."""
    model = loaded.model(family)
    record = bartviz.decode(model, TEXT, max_new_tokens=14)
    made = writers.generate(model, loaded.reference(family), record.source.ids[: _prompt(record)], max_new_tokens=14)
    assert [step.chosen.token_id for step in record.steps] == made.ids
    assert record.sound
    _assert_rows_are_those_of_one_pass(family, record)


def _prompt(record: Record) -> int:
    """Tokens that were given: the rest of a decoder-only model's source are its own."""
    return len(record.source) if record.cross is not None else record.steps[0].row + 1


def _assert_rows_are_those_of_one_pass(family: str, record: Record) -> None:
    """Step by step, with cached keys, each row is what one pass over all tokens gives."""
    for kind, layers in eager(family, record, double=False).items():
        for layer, weights in enumerate(layers):
            ours = torch.tensor(record.attention(kind).layer(layer))
            torch.testing.assert_close(ours, weights[0], atol=2e-5, rtol=0)


@pytest.mark.some
@pytest.mark.slow
@pytest.mark.parametrize("family", WRITERS)
def test_steps_of_one_pass_are_those_of_the_networks_own_logits(family: str) -> None:
    """Most networks' logits are made from their last states, some rows at a time; others scale or cap theirs."""
    model = loaded.model(family)
    target = TARGET if model.info.kind == "encoder-decoder" else None
    record = bartviz.capture(model, TEXT, target=target)
    inputs = {"input_ids": torch.from_numpy(record.source.ids.copy())[None]}
    if record.cross is not None:
        inputs["decoder_input_ids"] = torch.from_numpy(record.cross.query.ids.copy())[None]
    with torch.inference_mode():
        logits = loaded.reference(family)(**inputs).logits[0].double()
    known, bound = logits.log_softmax(-1), 1e-4 * float(logits.abs().max())
    for step in record.steps:
        for candidate in step.candidates:
            assert candidate.logit == pytest.approx(float(logits[step.row, candidate.token_id]), abs=bound)
        assert step.log_probability == pytest.approx(float(known[step.row, step.chosen.token_id]), abs=bound)
    assert model.output_alone == (family not in SCALED_OR_CAPPED)
