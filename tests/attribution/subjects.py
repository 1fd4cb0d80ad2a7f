"""The records that attribution is tested on, and the same network outside of the tape, in double precision."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from transformers import PreTrainedModel

import bartviz
from bartviz.record.record import Record
from tests.support import loaded, networks

TEXT, TARGET, GAP = "The cat is sleeping on the sofa.", "Die Katze.", "The cat is <mask> on the sofa."
WRITERS = ("bart", "t5", "marian", "gpt2")


@cache
def record(family: str, seed: int = 0) -> Record:
    """An encoder-decoder's of a given target, a decoder's of a text, an encoder's of a text with one mask."""
    model = loaded.model(family, seed)
    if family in networks.ENCODERS:
        text = GAP.replace("<mask>", str(model.tokenizer.mask_token))
        return bartviz.capture(model, text, allow_special=True)
    return bartviz.capture(model, TEXT, target=TARGET if family in networks.ENCODER_DECODERS else None)


@cache
def network(family: str, seed: int = 0) -> PreTrainedModel:
    """transformers' own kernels, in float64; those of experts compute in float32 at most."""
    module = copy.deepcopy(loaded.reference(family, seed))
    return module if "experts" in networks.FAMILIES[family].family.keys else module.double()


def given(one: Record, source: NDArray[np.int64] | None = None, target: NDArray[np.int64] | None = None) -> Any:
    """The network's inputs: the record's tokens, or others."""
    found = {"input_ids": torch.from_numpy((one.source.ids if source is None else source).copy())[None]}
    if one.cross is not None:
        ids = one.attention("decoder").query.ids if target is None else target
        found["decoder_input_ids"] = torch.from_numpy(ids.copy())[None]
    return found


def steps(family: str, seed: int = 0) -> tuple[list[int], list[int]]:
    """The rows of a record's steps, and the ids of their tokens: at a mask, the network's own first choice."""
    one = record(family, seed)
    if one.output is not None:
        rows = [step.row for step in one.steps]
        return rows, one.output.ids[rows].tolist()
    rows = np.flatnonzero(one.source.ids == loaded.model(family, seed).tokenizer.mask_token_id).tolist()
    with torch.no_grad():
        return rows, logits(network(family, seed), given(one))[rows].argmax(-1).tolist()


def logits(module: PreTrainedModel, inputs: Any) -> Tensor:
    """(n, V) of one text."""
    out = module(**inputs)
    found: Tensor = out["prediction_logits" if "prediction_logits" in out else "logits"][0]
    return found


def log_p(module: PreTrainedModel, inputs: Any, rows: Sequence[int], ids: Sequence[int]) -> Tensor:
    """(T,) the log-probabilities of tokens."""
    return logits(module, inputs)[list(rows)].log_softmax(-1)[range(len(ids)), list(ids)]


@contextmanager
def embeddings(module: PreTrainedModel, factors: Sequence[Tensor] | None = None) -> Iterator[list[Tensor]]:
    """Within this block the embeddings that the network looks up are leaves of a graph, here in the order in which
    they are looked up: the source's, then the target's. factors: what is put in place of each."""
    stacks = [module.base_model]
    if module.config.is_encoder_decoder:
        stacks = [module.get_encoder(), module.get_decoder()]
    seen: list[Tensor] = []

    def leaf(_module: nn.Module, _inputs: Any, out: Tensor) -> Tensor:
        kept = (out if factors is None else factors[len(seen)].expand_as(out)).detach().clone().requires_grad_()
        seen.append(kept)
        return kept

    with ExitStack() as stack:
        for looked in {id(one.get_input_embeddings()): one.get_input_embeddings() for one in stacks}.values():
            handle = looked.register_forward_hook(leaf)
            stack.callback(handle.remove)
        yield seen
