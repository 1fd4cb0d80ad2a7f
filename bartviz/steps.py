"""Logits -> steps: candidates, entropy and log-probability of each generated (or given) token, from raw logits."""

from __future__ import annotations

import math
from collections.abc import Sequence

from torch import Tensor
from transformers import PreTrainedTokenizerBase

from bartviz import tokens
from bartviz.record import Candidate, Step

_ROWS = 8  # rows of logits worked on at once: 8 x 50,000 float32 stay in the processor's cache
_FLOOR = -1e4  # below the best logit; e to that is 0, and 0 times it too


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
        return self._steps(logits[None], [token], position, row, rule)[0]

    def steps(self, logits: Tensor, chosen: Sequence[int], first_row: int = 0) -> tuple[Step, ...]:
        """Steps for rows of logits (T, V) and the tokens that followed them."""
        found: list[Step] = []
        for start in range(0, len(chosen), _ROWS):
            part = logits[start : start + _ROWS]
            found += self._steps(part, chosen[start : start + _ROWS], start, first_row + start, None)
        return tuple(found)

    def _steps(self, logits: Tensor, chosen: Sequence[int], position: int, row: int, rule: str | None) -> list[Step]:
        logits = logits.float()  # (T, V)
        best = logits.topk(min(self._top_k, logits.shape[1]), dim=-1)  # (T, k)
        shifted = (logits - best.values[:, :1]).clamp_(min=_FLOOR)  # (T, V), at most 0
        exponentials = shifted.exp()
        total = exponentials.sum(dim=-1)  # (T,)
        # H = log Z - sum_i p_i (logit_i - max)
        entropy = total.log() - exponentials.mul_(shifted).sum(dim=-1) / total  # (T,) nats
        normaliser = (best.values[:, 0] + total.log()).tolist()
        found = []
        rows = zip(chosen, best.indices.tolist(), best.values.tolist(), normaliser, entropy.tolist(), strict=True)
        for offset, (token, ids, values, log_z, nats) in enumerate(rows):
            candidates = tuple(self._candidate(i, value, log_z) for i, value in zip(ids, values, strict=True))
            own = self._candidate(token, float(logits[offset, token]), log_z)
            log_p = own.logit - log_z
            bits = max(nats / math.log(2), 0.0)
            found.append(Step(position + offset, row + offset, own, candidates, bits, log_p, rule))
        return found

    def _candidate(self, token: int, logit: float, log_z: float) -> Candidate:
        return Candidate(token, self.label(token), math.exp(logit - log_z), logit)

    def label(self, token: int) -> str:
        if token not in self._labels:
            self._labels[token] = tokens.from_ids(self._tokenizer, [token])[1].labels[0]
        return self._labels[token]
