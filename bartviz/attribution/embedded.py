"""A network's answers as a function of the embeddings of the tokens that it reads, and their gradients.

Letters in shapes: B runs in one batch, n tokens of a stack, e embedding width, T steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from bartviz.attribution.question import Question
from bartviz.errors import Cancelled, ModelError
from bartviz.experiments.replay import Replay, vocabulary_logits
from bartviz.language import later
from bartviz.models.output import OutputLayer
from bartviz.safety.other_libraries import guarded, run_failed
from bartviz.tape.tape import recording

SAME = 1e-3  # largest difference of the answers where the network is given embeddings in place of tokens, relative

Embeddings = tuple[Tensor, ...]
"""(B, n, e) for each stack that reads tokens: the encoder's first."""
T = TypeVar("T")
_FITTING: WeakKeyDictionary[Replay, tuple[float, ...]] = WeakKeyDictionary()  # the factors of each text that was asked


class Embedded:
    """The network of a question, given embeddings in place of tokens. Raises ModelError if it then answers something
    else."""

    def __init__(self, question: Question) -> None:
        self.question = question
        replay, network = question.replay, question.model.runner
        self._stacks: list[Any] = [network.base_model]
        self._ids: tuple[Tensor, ...] = (replay.source,)
        if question.reads is not None:
            self._stacks, self._ids = [network.get_encoder(), network.get_decoder()], (replay.source, question.reads)
        fitting = _FITTING.get(replay)
        if fitting is None:  # some stacks scale what they look up, and others what they are given, too
            factors = [dict.fromkeys((1.0, float(getattr(stack, "embed_scale", 1.0)))) for stack in self._stacks]
            fitting = next((scales for scales in product(*factors) if self._fits(scales)), None)
        if fitting is None:
            raise ModelError(
                later(
                    "This network computes something else from the embeddings of its tokens than from the tokens, so "
                    "there are no gradients: choose another method."
                )
            )
        self._scales = _FITTING.setdefault(replay, fitting)

    def of(self, *ids: Tensor) -> Embeddings:
        """The embeddings of the record's own tokens, a decoder's up to the last step; or of others (1, n) for each
        stack."""
        return self._looked_up(ids or self._ids, self._scales)

    def answers(self, embeddings: Embeddings) -> Tensor:
        """f (B, T), on the CPU, for a batch of embeddings."""
        question, copies = self.question, len(embeddings[0])
        names = ("inputs_embeds", "decoder_inputs_embeds")
        given = question.replay.beside(copies) | dict(zip(names, embeddings, strict=False))
        network, model = question.model.runner, question.model
        layer = OutputLayer.of(network) if model.output_alone and model.head is None else None
        with recording(question.tape(copies)), guarded(run_failed()):
            if layer is not None:  # of the steps alone: the logits of all rows are much of the work
                states = network.base_model(**given).last_hidden_state[:, question.rows.tolist()]
                return question.of_steps(layer.logits(states).cpu())
            out = network(**given)
        logits = vocabulary_logits(out, model.info.vocabulary)
        assert logits is not None  # ``asked`` refuses other models
        return question.answers(logits)

    def gradients(self, embeddings: Embeddings, steps: Sequence[int], read: Callable[[Embeddings], T]) -> list[T]:
        """For each step what ``read`` makes of the gradients of f, in each of the B runs with respect to its own
        embeddings."""
        leaves = tuple(part.detach().clone().requires_grad_() for part in embeddings)
        with torch.enable_grad(), guarded(run_failed()):
            answers = self.answers(leaves).sum(0)  # (T,): a run's answers depend on its own embeddings alone
            found = []
            for step in steps:
                if self.question.cancelled():
                    raise Cancelled(later("The run was stopped."))
                found.append(read(torch.autograd.grad(answers[step], leaves, retain_graph=True)))
            return found

    def _fits(self, scales: Sequence[float]) -> bool:
        """Whether the network answers the same with its tokens' embeddings, times these factors, as with its tokens."""
        own = torch.from_numpy(self.question.explained.copy())
        apart = (self.answers(self._looked_up(self._ids, scales))[0] - own).abs().max()
        return bool(apart <= SAME * own.abs().max().clamp(min=1.0))

    def _looked_up(self, ids: Sequence[Tensor], scales: Sequence[float]) -> Embeddings:
        device = self.question.model.device
        return tuple(
            stack.get_input_embeddings()(part.to(device)).detach() * scale
            for stack, part, scale in zip(self._stacks, ids, scales, strict=True)
        )
