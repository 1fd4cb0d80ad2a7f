"""The output layer of a record's step, computed again by its model: last state, output matrix, bias, logits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bartviz.analysis.output_layer import OutputLayer
from bartviz.arrays import Floats
from bartviz.callbacks import never
from bartviz.errors import SettingError
from bartviz.experiments.replay import Replay
from bartviz.language import later
from bartviz.models.model import Model
from bartviz.models.output import OutputLayer as Layer
from bartviz.record.record import Record
from bartviz.run.branches import scaled
from bartviz.safety.torch_defaults import torch_defaults
from bartviz.tape.tape import Tape
from bartviz.text import tokenize

MOST = 5  # candidates that are shown


@torch_defaults()
@torch.inference_mode()
def output_layer(
    model: Model, record: Record, step: int = 0, *, most: int = MOST, cancelled: Callable[[], bool] = never
) -> OutputLayer:
    """How the state of one step (from 0) became its candidates, in one pass over the record's tokens.

    Heads that the record's run scaled are scaled again. ``most`` candidates are shown, and the step's own token. Raises
    SettingError for a step that the record does not have, for a record of another model, and for a model that changes
    its logits afterwards; Cancelled.
    """
    _check_logits(model)
    replay = Replay(model, record)
    if not 0 <= step < len(record.steps):
        raise SettingError(
            later("There is no step {step}; the record has {count}.", step=step, count=len(record.steps))
        )
    one = record.steps[step]
    shown = list(one.candidates[:most])
    if all(candidate.token_id != one.chosen.token_id for candidate in shown):
        shown.append(one.chosen)
    ids = torch.tensor([candidate.token_id for candidate in shown])
    scale = _scale(model)
    last = replay.run(Tape(scale_heads=scaled(record), cancelled=cancelled)).last[0, one.row] * scale  # (D,)
    layer = Layer.of(model.network)
    assert layer is not None  # every network that writes has one
    matrix = layer.matrix  # (V, D)
    bias = torch.zeros(len(matrix)) if layer.bias is None else layer.bias  # (V,)
    logits = matrix @ last + bias  # (V,)
    parts = (logits - logits.max()).double().exp()
    parts[ids] = 0
    read = record.attention("decoder").query
    reads = tokenize.label(model.tokenizer, int(read.ids[one.row]), read.ids[: one.row].tolist())
    return OutputLayer(
        model=record.model.name,
        step=step,
        reads=reads,
        ids=ids.numpy(),
        labels=tuple(candidate.label for candidate in shown),
        chosen=next(i for i, candidate in enumerate(shown) if candidate.token_id == one.chosen.token_id),
        state=_numbers(last),
        rows=_numbers(matrix[ids]),
        bias=_numbers(bias[ids]),
        recorded=np.array([candidate.logit for candidate in shown], np.float32),
        rest=float(parts.sum()),
        vocabulary=len(matrix),
        tied=matrix.data_ptr() == _words(model).data_ptr(),
        scale=scale,
    )


def _words(model: Model) -> Tensor:
    """The word embeddings that the decoder reads (V, D)."""
    network: Any = model.network
    decoder = network.base_model if model.info.kind == "decoder" else network.get_decoder()
    weight: Tensor = decoder.get_input_embeddings().weight
    return weight


def _scale(model: Model) -> float:
    """The factor of the last state, as in T5 where its embeddings are tied."""
    key = model.info.known.state_scale
    return model.info.width**-0.5 if key and getattr(model.config, key, False) else 1.0


def _check_logits(model: Model) -> None:
    changed = model.info.known.logits_changed
    keys = [key for key, nothing in changed.items() if getattr(model.config, key, nothing) not in (nothing, None)]
    if keys:
        raise SettingError(
            later(
                "The logits of this model are changed after the output layer ({keys}), which this view does not show.",
                keys=", ".join(keys),
            )
        )


def _numbers(tensor: Tensor) -> Floats:
    array: Floats = tensor.detach().float().numpy().copy()
    return array
