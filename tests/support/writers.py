"""Writing models beside transformers' own generate(): the same settings, the same network, other code."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from transformers import GenerationConfig, PreTrainedModel

from bartviz.arrays import Ints
from bartviz.models.model import Model
from bartviz.record.attention import Kind
from bartviz.record.record import Record
from tests.support import loaded, networks

TEXT = "The cat is sleeping on the sofa, but the children played outside: what time is it?"
WRITERS = (*networks.ENCODER_DECODERS, "gpt2")


@dataclass(frozen=True)
class Generated:
    """What generate() wrote: the new tokens, and the score where it searched with beams."""

    ids: list[int]
    score: float | None


def with_rules(model: Model, **changes: Any) -> Model:
    """The model with other generation settings; the network is the same."""
    generation = copy.deepcopy(model.generation)
    for name, value in changes.items():
        setattr(generation, name, value)
    return replace(model, generation=generation)


def generate(model: Model, network: PreTrainedModel, source: Ints, **options: Any) -> Generated:
    """transformers' own decoding of these source ids (n,) under the model's settings and these options."""
    settings = GenerationConfig(**(model.generation.to_diff_dict() | options))
    for name in ("bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id"):
        setattr(settings, name, getattr(model.generation, name))
    if settings.pad_token_id is None:
        settings.pad_token_id = 0
    network.generation_config = settings
    ids = torch.from_numpy(source.copy())[None]  # (1, n)
    with torch.inference_mode():
        out = network.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            generation_config=settings,
            return_dict_in_generate=True,
            output_scores=True,
        )
    given = len(source) if model.info.kind == "decoder" else 1
    score = getattr(out, "sequences_scores", None)
    return Generated(out.sequences[0, given:].tolist(), None if score is None else float(score[0]))


def generated(family: str, model: Model, source: Ints, **options: Any) -> list[int]:
    """The new tokens of transformers' own greedy search under the same settings."""
    network = loaded.reference(family, implementation="sdpa")
    return generate(model, network, source, **({"num_beams": 1, "do_sample": False} | options)).ids


def source_of(record: Record) -> Ints:
    """The ids that were given: the encoder's, or the prompt of a decoder-only model."""
    ids: Ints = record.source.ids if record.cross is not None else record.source.ids[: record.steps[0].row + 1]
    return ids


def chosen(record: Record) -> list[int]:
    return [step.chosen.token_id for step in record.steps]


def one_pass(family: str, record: Record) -> Mapping[Kind, Sequence[np.ndarray[Any, Any]]]:
    """Each layer's weights (H, Q, K) of eager attention, in one teacher-forced pass over the record's tokens."""
    assert record.decoder is not None
    inputs = {"input_ids": torch.from_numpy(record.source.ids.copy())[None]}
    if record.cross is not None:
        inputs["decoder_input_ids"] = torch.from_numpy(record.decoder.query.ids.copy())[None]
    with torch.inference_mode():
        out = loaded.reference(family)(**inputs, output_attentions=True)
    layers: dict[Kind, Any] = (
        {"decoder": out.attentions}
        if record.cross is None
        else {"encoder": out.encoder_attentions, "decoder": out.decoder_attentions, "cross": out.cross_attentions}
    )
    return {kind: [weights[0].numpy() for weights in found] for kind, found in layers.items()}
