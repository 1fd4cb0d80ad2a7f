"""The same numbers by captum and inseq on the same networks, where somebody has installed them: they are no
dependencies of ours.

inseq 0.7.1 cannot zero values with the layers of transformers 5, which give a tensor and no tuple: its hook is replaced
here by one that takes both. It computes distances in float32, and takes those below 1e-5 for 0; here it computes them
in float64 with a limit of 0, and a test shows what its own way does.
"""

from __future__ import annotations

import copy
from functools import cache, partialmethod
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import bartviz
from bartviz.analysis.attribution import Attribution
from bartviz.attribution import gradients
from bartviz.attribution.erasure import replacement
from bartviz.models.model import Model
from bartviz.record.record import Record
from tests.support import loaded

TEXT = {
    "bart-tiny-en-de": "I want to buy a car.",
    "bart-tiny-denoise": "The cat is on the sofa.",
    "marian": "The cat is sleeping.",
    "gpt2": "The cat is",
}
GIVEN = {"marian": "Die Katze.", "gpt2": " sleeping on the sofa."}
SHIPPED = ("bart-tiny-en-de", "bart-tiny-denoise")
NAMES = (*SHIPPED, "marian", "gpt2")
INSEQ = (*SHIPPED, "gpt2")
CLOSE = 1e-4
pytestmark = pytest.mark.slow


@cache
def subject(name: str) -> tuple[Model, Record]:
    model = bartviz.load(name) if name in SHIPPED else loaded.model(name)
    return model, bartviz.capture(model, TEXT[name], target=GIVEN.get(name))


def explained(name: str, method: str) -> Attribution:
    return bartviz.attribute(*subject(name), method=method)


def sides(found: Attribution) -> list[Any]:
    return [found.values] if found.earlier_values is None else [found.values, found.earlier_values]


class Peer:
    """The network of a record outside of the tape, as captum wants it: embeddings -> log-probability of one step."""

    def __init__(self, name: str) -> None:
        self.model, self.record = subject(name)
        self.network = copy.deepcopy(self.model.network).double()
        self.network.set_attn_implementation("eager")
        inputs = [self.record.source]
        self.stacks: list[Any] = [self.network.base_model]
        if self.record.cross is not None:
            inputs.append(self.record.attention("decoder").query)
            self.stacks = [self.network.get_encoder(), self.network.get_decoder()]
        self.ids = [torch.from_numpy(tokens.ids.copy())[None] for tokens in inputs]
        token = replacement(self.model)
        self.erased = [
            ids.masked_fill(torch.from_numpy(~tokens.special.copy())[None], token)
            for ids, tokens in zip(self.ids, inputs, strict=True)
        ]
        self.rows = [step.row for step in self.record.steps]
        assert self.record.output is not None
        self.targets = self.record.output.ids[self.rows].tolist()
        names = ["input_ids", "decoder_input_ids"][: len(self.ids)]
        with torch.no_grad():
            plain = self.network(**dict(zip(names, self.ids, strict=True))).logits
            fed = self.logits(*self.embedded(self.ids))
        torch.testing.assert_close(plain, fed)

    def embedded(self, ids: list[Tensor]) -> tuple[Tensor, ...]:
        """What the stacks read after they have scaled what they looked up."""
        seen = [stack.get_input_embeddings()(part).detach() for stack, part in zip(self.stacks, ids, strict=True)]
        return tuple(part * getattr(stack, "embed_scale", 1.0) for stack, part in zip(self.stacks, seen, strict=True))

    def logits(self, *embeddings: Tensor) -> Tensor:
        names = ["inputs_embeds", "decoder_inputs_embeds"]
        found: Tensor = self.network(**dict(zip(names, embeddings, strict=False)), use_cache=False).logits
        return found

    def by(self, step: int) -> Any:
        def answer(*embeddings: Tensor) -> Tensor:
            return self.logits(*embeddings)[:, self.rows[step]].log_softmax(-1)[:, self.targets[step]]

        return answer


def numbers(parts: tuple[Tensor, ...]) -> list[Any]:
    return [part.sum(-1)[0].detach().numpy() for part in parts]


@pytest.mark.parametrize("name", NAMES)
def test_gradient_x_input_is_that_of_captum(name: str) -> None:
    captum = pytest.importorskip("captum.attr")
    peer, found = Peer(name), sides(explained(name, "gradient x input"))
    for step in range(len(peer.rows)):
        theirs = captum.InputXGradient(peer.by(step)).attribute(peer.embedded(peer.ids))
        for ours, other in zip(found, numbers(theirs), strict=True):
            np.testing.assert_allclose(ours[step], other, atol=CLOSE, rtol=CLOSE)


@pytest.mark.parametrize("name", NAMES)
def test_integrated_gradients_are_those_of_captum(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both are sums that come near an integral: with more points they come nearer to each other."""
    captum = pytest.importorskip("captum.attr")
    peer, usual = Peer(name), sides(explained(name, "integrated gradients"))
    monkeypatch.setattr(gradients, "COMPLETE", 1e-5)
    monkeypatch.setattr(gradients, "ROUNDING", 2e-5)
    monkeypatch.setattr(gradients, "NARROWEST", 2**-14)
    step = len(peer.rows) // 2
    found = sides(bartviz.attribute(*subject(name), method="integrated gradients", step=step))
    theirs, apart = captum.IntegratedGradients(peer.by(step)).attribute(
        peer.embedded(peer.ids),
        baselines=peer.embedded(peer.erased),
        n_steps=500,
        method="gausslegendre",
        internal_batch_size=100,
        return_convergence_delta=True,
    )
    assert abs(float(apart)) < CLOSE
    whole = sum(float(part.sum()) for part in numbers(theirs))
    for ours, rough, other in zip(found, usual, numbers(theirs), strict=True):
        np.testing.assert_allclose(ours[0], other, atol=CLOSE, rtol=CLOSE)
        np.testing.assert_allclose(rough[step], other, atol=0.01 * abs(whole) + CLOSE)


def cosine(one: Tensor, other: Tensor) -> Tensor:
    return nn.functional.cosine_similarity(one.double(), other.double(), dim=-1)


@cache
def of_inseq(name: str, method: str) -> Any:
    """inseq's numbers for the text and output of a record."""
    inseq = pytest.importorskip("inseq")
    from inseq.attr.feat.ops.value_zeroing import ValueZeroing
    from inseq.attr.step_functions import probability_fn

    def hook_of(self: Any, layer: int, hidden_state_idx: int = 0) -> Any:
        def hook(_module: nn.Module, _inputs: Any, out: Any) -> Any:
            states = out if isinstance(out, Tensor) else out[hidden_state_idx]
            self.corrupted_block_output_states[layer] = states.clone().float()
            clean = self.clean_block_output_states[layer]
            return clean if isinstance(out, Tensor) else (clean, *out[1:])

        return hook

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ValueZeroing, "get_states_extract_and_patch_hook", hook_of)
        if method == "value_zeroing":
            compute = ValueZeroing.compute_modules_post_zeroing_similarity
            whole = partialmethod(compute, min_score_threshold=0.0)
            patch.setattr(ValueZeroing, "compute_modules_post_zeroing_similarity", whole)
            patch.setitem(ValueZeroing.SIMILARITY_METRICS, "cosine", cosine)
        model, record = subject(name)
        network = copy.deepcopy(model.network)
        network.set_attn_implementation("eager")
        peer = inseq.load_model(network, method.removesuffix(" cut"), tokenizer=copy.deepcopy(model.tokenizer))
        if name == "gpt2" and "zeroing" in method:
            patch.setattr(peer.config, "value_vector", "value_states")  # as transformers 5 calls it
        inseq.register_step_function(lambda args: probability_fn(args, logprob=True), "log p", overwrite=True)
        given: dict[str, Any] = {} if "zeroing" in method else {"attributed_fn": "log p"}
        if record.cross is not None:
            given["attribute_target"] = True
        text = record.target_text if record.cross is not None else f"{record.source_text}{record.target_text}"
        found = peer.attribute(record.source_text, text, show_progress=False, **given)
    return found.sequence_attributions[0]


def compared(name: str, method: str, peers: str) -> list[tuple[Any, Any]]:
    """Our numbers beside inseq's, (steps, tokens): its have the tokens first, and NaN for what a row does not see."""
    theirs, ours = of_inseq(name, peers), sides(explained(name, method))
    parts = [theirs.source_attributions, theirs.target_attributions] if len(ours) == 2 else [theirs.target_attributions]
    pairs = list[tuple[Any, Any]]()
    for own, part in zip(ours, parts, strict=True):
        other = (part.nanmean(-1) if "zeroing" in peers else part.sum(-1)).nan_to_num().T.numpy()
        steps, tokens = min(len(own), len(other)), min(own.shape[1], other.shape[1])
        assert steps >= 3
        pairs.append((own[:steps, :tokens], other[:steps, :tokens]))
    return pairs


@pytest.mark.parametrize("name", INSEQ)
def test_gradient_x_input_is_that_of_inseq(name: str) -> None:
    for ours, theirs in compared(name, "gradient x input", "input_x_gradient"):
        np.testing.assert_allclose(ours, theirs, atol=CLOSE, rtol=1e-3)


@pytest.mark.parametrize("name", INSEQ)
def test_value_zeroing_is_that_of_inseq(name: str) -> None:
    for ours, theirs in compared(name, "value zeroing", "value_zeroing"):
        np.testing.assert_allclose(ours, theirs, atol=CLOSE)


def test_small_distances_that_inseq_leaves_out_are_what_is_between_us() -> None:
    """Where a layer hardly moves a state, as at the first token of an output, they are much of its shares."""
    (source, cut), _ = compared("bart-tiny-en-de", "value zeroing", "value_zeroing cut")
    apart = np.abs(source - cut).max(axis=1)
    assert apart[0] > CLOSE
    assert np.median(apart) < CLOSE
