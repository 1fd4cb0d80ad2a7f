"""Logits -> steps: candidates, entropy and log-probability of each generated (or given) token, from raw logits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from bartviz import tokens
from bartviz.errors import SettingError
from bartviz.labels import CONTINUES
from bartviz.language import later
from bartviz.record import Candidate, Step

_ROWS = 16  # rows of logits worked on at once: 16 x 50,000 float32 stay near the processor
_BLOCK = 256  # columns of which the largest is looked up first


def largest(rows: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The k largest of each row (T, V) -> values and columns (T, k), largest first: ``topk`` at half the cost.

    The k largest numbers stand in the k blocks with the largest maxima, or in the rest behind the last whole block.
    """
    blocks = rows.shape[1] // _BLOCK
    if blocks <= k:
        best = rows.topk(k, dim=-1)
        return best.values, best.indices
    whole = rows[:, : blocks * _BLOCK].reshape(len(rows), blocks, _BLOCK)  # (T, blocks, 256)
    chosen = whole.amax(dim=-1).topk(k, dim=-1).indices.sort(dim=-1).values  # (T, k)
    inside = whole.gather(1, chosen[:, :, None].expand(-1, -1, _BLOCK)).flatten(1)  # (T, k * 256)
    rest = torch.arange(blocks * _BLOCK, rows.shape[1]).expand(len(rows), -1)
    columns = torch.cat([(chosen[:, :, None] * _BLOCK + torch.arange(_BLOCK)).flatten(1), rest], dim=1)
    best = torch.cat([inside, rows[:, blocks * _BLOCK :]], dim=1).topk(k, dim=-1)
    return best.values, columns.gather(1, best.indices)


@dataclass(frozen=True, slots=True)
class Row:
    """The numbers of one row of raw logits: ``best`` are pairs of id and logit, largest first; log p = logit - log_z;
    bits is the entropy."""

    best: list[tuple[int, float]]
    log_z: float
    bits: float


def numbers(logits: Tensor, top_k: int) -> list[Row]:
    """From raw logits (T, V) to numbers; a logit of minus infinity adds nothing to the entropy."""
    values, columns = largest(logits, min(top_k, logits.shape[1]))  # (T, k) each
    p = logits.softmax(dim=-1)  # (T, V)
    log_z = values[:, 0] - p.gather(1, columns[:, :1])[:, 0].log()  # (T,)
    # H = log Z - sum_i p_i logit_i, in nats
    mean = p.mul_(logits).nansum(dim=-1) if torch.isneginf(logits.amin()) else p.mul_(logits).sum(dim=-1)
    bits = ((log_z - mean) / math.log(2)).clamp_(min=0.0)  # (T,)
    rows = zip(columns.tolist(), values.tolist(), log_z.tolist(), bits.tolist(), strict=True)
    return [Row(list(zip(ids, best, strict=True)), z, h) for ids, best, z, h in rows]


_LABELS: WeakKeyDictionary[PreTrainedTokenizerBase, dict[int, str]] = WeakKeyDictionary()


class Summary:
    """Turns rows of logits into steps, whose candidates are called by what they would be at their place."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase, top_k: int) -> None:
        if top_k < 1:
            raise SettingError(later("top_k is {top_k}; choose 1 or more.", top_k=top_k))
        self._tokenizer = tokenizer
        self._top_k = top_k
        self._labels = _LABELS.setdefault(tokenizer, {})

    def step(
        self,
        position: int,
        logits: Tensor,
        token: int,
        before: Sequence[int],
        rule: str | None = None,
        filtered: Tensor | None = None,
    ) -> Step:
        """One step from the raw logits (V,) of its row; ``token`` is what was chosen or given.

        ``before``: the decoder's inputs up to and with the row that predicts it. Entropy in bits, log-probability in
        nats, both over the whole vocabulary. ``filtered`` (V,): probabilities from which the token was drawn.
        """
        row = numbers(logits.float()[None], self._top_k)[0]
        return self.made(position, row, token, float(logits[token]), before, rule, filtered)

    def rows(self, logits: Tensor) -> list[Row]:
        """The numbers of each row of raw logits (B, V)."""
        return numbers(logits.float(), self._top_k)

    def made(
        self,
        position: int,
        row: Row,
        token: int,
        logit: float,
        before: Sequence[int],
        rule: str | None = None,
        filtered: Tensor | None = None,
    ) -> Step:
        """A step from the numbers of its row, and the logit of the token that was chosen."""

        def candidate(i: int, logit: float) -> Candidate:
            drawn = None if filtered is None else float(filtered[i])
            return Candidate(i, self.label(i, before), math.exp(logit - row.log_z), logit, drawn)

        candidates = tuple(candidate(i, logit) for i, logit in row.best)
        own = candidate(token, logit)
        return Step(position, len(before) - 1, own, candidates, row.bits, logit - row.log_z, rule)

    def steps(self, logits: Tensor, inputs: Sequence[int], chosen: Sequence[int]) -> tuple[Step, ...]:
        """Steps for rows of logits (T, V), the tokens that each row read, and those that followed them."""
        found: list[Step] = []
        for start in range(0, len(chosen), _ROWS):
            stop = min(start + _ROWS, len(chosen))
            own = logits[start:stop].gather(1, torch.tensor(chosen[start:stop])[:, None])[:, 0].tolist()
            for place, row in enumerate(self.rows(logits[start:stop]), start):
                found.append(self.made(place, row, chosen[place], own[place - start], inputs[: place + 1]))
        return tuple(found)

    def label(self, token: int, before: Sequence[int]) -> str:
        """The token's label after the ids ``before``; only one that may go on with a word depends on them."""
        if token not in self._labels:
            self._labels[token] = tokens.label(self._tokenizer, token)
        alone = self._labels[token]
        return tokens.label(self._tokenizer, token, before) if alone.startswith(CONTINUES) else alone
