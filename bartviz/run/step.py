"""One decoding step: takes new tokens, returns the logits of the next; earlier keys and values are cached.

The encoder runs once. Every call goes through the tape (tape.py): after a step its entries hold the queries of the new
positions, and the keys and values of every position so far, for every batch row.
Letters in shapes: B batch rows, t new tokens, S source tokens, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from transformers import Cache, DynamicCache, EncoderDecoderCache
from transformers.modeling_outputs import BaseModelOutput

from bartviz.models.model import Model
from bartviz.safety.other_libraries import guarded, run_failed


class Stepper:
    """Generates a text, one token per call; the batch rows (beams) are versions of it that share one source.

    One of ``joined`` generates several texts, a row each.
    """

    def __init__(self, model: Model, cache: Cache, states: Tensor | None) -> None:
        self._model, self._network, self._device = model, model.runner, model.device
        self._cache = cache
        self._states = states  # (1, S, width) of the encoder, or of n texts (n, S, width)
        self._rows = 1 if states is None else len(states)

    @classmethod
    def start(cls, model: Model, source: Tensor | None) -> Stepper:
        """Run the encoder on the source's ids (1, S); None for a decoder-only model, which has no source."""
        if source is None:
            return cls(model, DynamicCache(), None)
        with guarded(run_failed()):
            states = model.runner.get_encoder()(input_ids=source.to(model.device)).last_hidden_state
        return cls(model, EncoderDecoderCache(DynamicCache(), DynamicCache()), states)

    @classmethod
    def joined(cls, steppers: Sequence[Stepper]) -> Stepper:
        """One for the texts of several, which have sources and no steps yet: their encodings are padded with zeros."""
        states = pad_sequence([one._states[0] for one in steppers if one._states is not None], batch_first=True)
        return cls(steppers[0]._model, EncoderDecoderCache(DynamicCache(), DynamicCache()), states)

    def step(self, ids: Tensor) -> Tensor:
        """Feed the new tokens (B, t) -> raw logits (B, V) of the token after the last one. Raises ModelError."""
        with guarded(run_failed()):
            return self._step(ids)

    def _step(self, ids: Tensor) -> Tensor:
        given: dict[str, object] = {"past_key_values": self._cache, "use_cache": True}
        ids = ids.to(self._device)
        if self._states is None:
            given["input_ids"] = ids
        else:
            given["decoder_input_ids"] = ids
            given["encoder_outputs"] = BaseModelOutput(self._states.expand(len(ids), -1, -1))
        logits: Tensor = self._network(**given).logits[:, -1]
        return logits.cpu()

    def at_once(self, ids: Sequence[int]) -> Tensor:
        """Raw logits (V,) after these tokens, computed in one pass by the network's own modules, independently of the
        steps. The model must have a source."""
        assert self._states is not None
        states = BaseModelOutput(self._states)
        logits: Tensor = self._network(
            decoder_input_ids=torch.tensor([list(ids)], device=self._device), encoder_outputs=states, use_cache=False
        ).logits[0, -1]
        return logits.cpu()

    def reorder(self, index: Tensor) -> None:
        """Row i becomes what row ``index[i]`` was; index (B',) makes a batch of B' rows."""
        if isinstance(self._cache, EncoderDecoderCache):
            self._cache.self_attention_cache.reorder_cache(index)
            if len(index) != self._rows:  # the source of beams is the same for every row
                self._cache.cross_attention_cache.reorder_cache(index)
        else:
            self._cache.reorder_cache(index)
        if self._states is not None and len(self._states) > 1:
            self._states = self._states[index.to(self._states.device)]
        self._rows = len(index)
