"""lens(): what a model would say if it stopped after an earlier layer, read by its own last modules.

Letters in shapes: B runs in one batch, L layers, n tokens of a stack, w its width, T steps, V vocabulary, k tokens.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from transformers.modeling_outputs import BaseModelOutput

from bartviz.analysis.lens import Lens
from bartviz.analysis.residual import Stack
from bartviz.arrays import Ints
from bartviz.attribution.attribute import captured
from bartviz.attribution.question import Question, asked
from bartviz.callbacks import never
from bartviz.errors import Cancelled, ModelError, SettingError
from bartviz.experiments.replay import vocabulary_logits
from bartviz.experiments.residual import LayerModules
from bartviz.language import later
from bartviz.models.model import Model, expect_model
from bartviz.record.record import Record
from bartviz.safety.other_libraries import guarded, run_failed
from bartviz.safety.torch_defaults import torch_defaults

MOST = 5  # best tokens that are kept
SAME = 1e-3  # largest difference of the last layer's logits from the network's own, relative to the largest


@torch_defaults()
@torch.inference_mode()
def lens(
    model: Model,
    text: str | Record,
    target: str | None = None,
    *,
    stack: Stack | None = None,
    most: int = MOST,
    cancelled: Callable[[], bool] = never,
) -> Lens:
    """What the model would say after each layer of a stack, at each step of a record.

    The states pass the stack's last norm, where it has one. Then the output layer reads those of the decoder, or of an
    encoder that fills masks (logit lens, nostalgebraist 2020); those of an encoder with a decoder are read by the whole
    decoder, whose own inputs stay the record's (DecoderLens, Langedijk et al. 2024). The last layer gives the record's
    own probabilities.

    text: or a record of it. A ``<mask>`` in a text is the model's mask token. target: a given output, as in
    ``bartviz.capture``. stack: "encoder" or "decoder"; None is the last one. most: how many best tokens are kept.
    Raises SettingError for a stack that the model does not have, for a model that predicts no tokens and for a record
    of another model; ModelError for one whose last layer read so gives other logits than its own; TextError,
    BudgetError, Cancelled.

    >>> found = bartviz.lens(model, "I want to buy a car.", stack="encoder")
    >>> found.rank.shape  # (layers + 1, steps): the embeddings first
    (5, 8)
    >>> bool(found.settled.max() <= found.layers)  # at the end each token is the first choice
    True
    """
    expect_model(model)
    record = text if isinstance(text, Record) else captured(model, text, target, cancelled)
    expect_model(model, record)
    if isinstance(text, Record) and target is not None:
        raise SettingError(later("This record has its output already: leave the target out, or give the text."))
    if most < 1:
        raise SettingError(later("At least one token is kept for each layer and step."))
    question = asked(model, record, token=None, contrast=None, step=None, cancelled=cancelled)
    stacks: tuple[Stack, ...] = ("encoder",) if model.info.kind == "encoder" else ("decoder",)
    if record.cross is not None:
        stacks = ("encoder", *stacks)
    chosen = stacks[-1] if stack is None else stack
    if chosen not in stacks:
        raise SettingError(later("This model has no {stack}: choose the other stack.", stack=chosen))
    decodes = chosen != stacks[-1]
    read = _decoded(question) if decodes else _read(question, chosen)
    return _answered(question, chosen, decodes, read, most)


def _states(question: Question, stack: Stack) -> list[Tensor]:
    """L + 1 states (1, n, w) as what follows the stack reads them. The network's own last ones are so already."""
    *early, last = question.outcome.hidden[stack]
    final = LayerModules(question.model, stack, 0).final
    return [*(final(state) for state in early), last]


def _decoded(question: Question) -> Iterator[Tensor]:
    """The logits (T, V) of the steps, the decoder reading each layer of the encoder."""
    states = torch.cat(_states(question, "encoder"))  # (L + 1, n, w)
    for batch in question.batches(len(states)):
        part = states[batch.start : batch.stop]
        outcome = question.replay.run(question.tape(len(part)), copies=len(part), encoded=part)
        assert outcome.logits is not None  # ``asked`` refuses other models
        yield from outcome.logits[:, question.rows]


def _read(question: Question, stack: Stack) -> Iterator[Tensor]:
    """The logits (T, V) of the steps, the output layer reading each layer of the last stack."""
    for state in _states(question, stack):
        if question.cancelled():
            raise Cancelled(later("The run was stopped."))
        yield _output(question.model, state[:, question.rows])[0]


def _output(model: Model, states: Tensor) -> Tensor:
    """(1, T, V): what a network makes of its last states (1, T, w), whatever it does after them.

    A copy of its outermost module alone is called: with the same weights, and these states in place of what the modules
    below it compute.
    """
    network: Any = copy.copy(model.network)
    network._modules = dict(network._modules)
    whole = model.network.base_model is model.network  # T5 has no base model inside
    network._modules["decoder" if whole else network.base_model_prefix] = _Given(states)
    inputs = {"encoder_outputs": BaseModelOutput(last_hidden_state=states)} if whole else {}
    with guarded(run_failed()):
        logits = vocabulary_logits(network(**inputs), model.info.vocabulary)
    assert logits is not None  # ``asked`` refuses other models
    return logits


class _Given(nn.Module):
    """Stands where a network has its base model, or the decoder of one, and puts out given states."""

    def __init__(self, states: Tensor) -> None:
        super().__init__()
        self._output = _Output((states, states[:, 0]))

    @property
    def decoder(self) -> _Given:
        """OPT calls the decoder of its base model."""
        return self

    def forward(self, *_inputs: object, **_options: object) -> _Output:
        return self._output


class _Output(tuple[Tensor, Tensor]):
    """States, and the pooled state that some networks ask for too; all else that an output may have is None."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Tensor | None:
        return {"last_hidden_state": self[0], "pooler_output": self[1]}.get(name)


def _answered(question: Question, stack: Stack, decodes: bool, read: Iterator[Tensor], most: int) -> Lens:
    """The numbers of every layer, from its logits (T, V)."""
    assert question.outcome.logits is not None  # ``asked`` refuses other models
    own = question.outcome.logits[0, question.rows]  # (T, V)
    ids = torch.from_numpy(question.ids.copy())[:, None]
    columns: list[tuple[Tensor, ...]] = []
    logits = own
    for logits in read:
        log_p = logits.log_softmax(-1)
        best = log_p.topk(min(most, log_p.shape[-1]))
        chosen = log_p.gather(-1, ids)  # (T, 1)
        p = log_p.exp()
        bits = -torch.where(p > 0, p * log_p, 0.0).sum(-1) / math.log(2)
        rank = 1 + (log_p > chosen).sum(-1)
        columns.append((best.indices, best.values.exp(), chosen[:, 0].exp(), rank, bits.clamp(min=0.0)))
    if float((logits - own).abs().max()) > SAME * max(1.0, float(own.abs().max())):
        raise ModelError(
            later("The last states of this network, read by its output layer, give other logits than its own.")
        )
    found = [torch.stack(part).numpy() for part in zip(*columns, strict=True)]
    return Lens(
        question.record.model.name,
        stack,
        decodes,
        question.rows,
        question.ids,
        question.replay.labels(question.rows, question.ids.tolist()),
        found[0],
        tuple(_labels(question, layer) for layer in found[0]),
        found[1].astype(np.float32),
        found[2].astype(np.float32),
        found[3].astype(np.int64),
        found[4].astype(np.float32),
    )


def _labels(question: Question, best: Ints) -> tuple[tuple[str, ...], ...]:
    """(T, k) the labels of tokens (T, k), each as it would stand at its step."""
    columns = [question.replay.labels(question.rows, column.tolist()) for column in best.T]
    return tuple(zip(*columns, strict=True))
