"""Logits -> steps: candidates, entropy and log-probability of one generated (or given) token, from raw logits."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from bartviz import tokens
from bartviz.record import Candidate, Step


class Summary:
    """Turns rows of logits into steps; remembers the label of each token that it has shown."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase, top_k: int) -> None:
        self._tokenizer = tokenizer
        self._top_k = top_k
        self._labels: dict[int, str] = {}

    def step(self, position: int, row: int, logits: Tensor, token: int, rule: str | None = None) -> Step:
        """One step from the raw logits (V,) of its row; ``token`` is what was chosen or given.

        Entropy in bits, log-probability in nats, both over the whole vocabulary.
        """
        log_p = torch.log_softmax(logits.float(), dim=-1)  # (V,)
        best = log_p.topk(min(self._top_k, log_p.shape[0]))
        entropy = -float((log_p.exp() * log_p).nansum()) / math.log(2)
        pairs = zip(best.indices.tolist(), best.values.tolist(), logits[best.indices].tolist(), strict=True)
        candidates = tuple(Candidate(i, self.label(i), math.exp(value), logit) for i, value, logit in pairs)
        log_probability = float(log_p[token])
        chosen = Candidate(token, self.label(token), math.exp(log_probability), float(logits[token]))
        return Step(position, row, chosen, candidates, max(entropy, 0.0), log_probability, rule)

    def steps(self, logits: Tensor, chosen: Sequence[int], first_row: int = 0) -> tuple[Step, ...]:
        """Steps for rows of logits (T, V) and the tokens that followed them."""
        return tuple(
            self.step(position, first_row + position, row, token)
            for position, (row, token) in enumerate(zip(logits, chosen, strict=True))
        )

    def label(self, token: int) -> str:
        if token not in self._labels:
            self._labels[token] = tokens.from_ids(self._tokenizer, [token])[1].labels[0]
        return self._labels[token]
