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


_LABELS: WeakKeyDictionary[PreTrainedTokenizerBase, dict[int, str]] = WeakKeyDictionary()


class Summary:
    """Turns rows of logits into steps, whose candidates are called by what they would be at their place."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase, top_k: int) -> None:
        if top_k < 1:
            raise SettingError(f"top_k is {top_k}; choose 1 or more.")
        self._tokenizer = tokenizer
        self._top_k = top_k
        self._labels = _LABELS.setdefault(tokenizer, {})

    def step(self, position: int, logits: Tensor, token: int, before: Sequence[int], rule: str | None = None) -> Step:
        """One step from the raw logits (V,) of its row; ``token`` is what was chosen or given.

        ``before``: the decoder's inputs up to and with the row that predicts it. Entropy in bits, log-probability in
        nats, both over the whole vocabulary.
        """
        return self._steps(logits[None], [token], position, before, rule)[0]

    def steps(self, logits: Tensor, inputs: Sequence[int], chosen: Sequence[int]) -> tuple[Step, ...]:
        """Steps for rows of logits (T, V), the tokens that each row read, and those that followed them."""
        found: list[Step] = []
        for start in range(0, len(chosen), _ROWS):
            stop = min(start + _ROWS, len(chosen))
            found += self._steps(logits[start:stop], chosen[start:stop], start, inputs[: start + 1], None, inputs)
        return tuple(found)

    def _steps(
        self,
        logits: Tensor,  # (T, V)
        chosen: Sequence[int],
        position: int,
        before: Sequence[int],
        rule: str | None,
        inputs: Sequence[int] = (),
    ) -> list[Step]:
        numbers = _numbers(logits.float(), chosen, self._top_k)
        found = []
        for offset, (token, row) in enumerate(zip(chosen, numbers, strict=True)):
            context = before if offset == 0 else inputs[: len(before) + offset]
            own = Candidate(token, self.label(token, context), math.exp(row.log_probability), row.logit)
            candidates = tuple(
                Candidate(i, self.label(i, context), math.exp(logit - row.log_z), logit) for i, logit in row.best
            )
            step = Step(position + offset, len(context) - 1, own, candidates, row.bits, row.log_probability, rule)
            found.append(step)
        return found

    def label(self, token: int, before: Sequence[int]) -> str:
        """The token's label after the ids ``before``; only one that may go on with a word depends on them."""
        if token not in self._labels:
            self._labels[token] = tokens.label(self._tokenizer, token)
        alone = self._labels[token]
        return tokens.label(self._tokenizer, token, before) if alone.startswith(CONTINUES) else alone


@dataclass(frozen=True, slots=True)
class _Row:
    """The numbers of one row of logits: ``best`` are pairs of id and logit, log_z normalises logits to log p."""

    best: list[tuple[int, float]]
    log_z: float
    logit: float
    bits: float

    @property
    def log_probability(self) -> float:
        return self.logit - self.log_z


def _numbers(logits: Tensor, chosen: Sequence[int], top_k: int) -> list[_Row]:
    """From raw logits (T, V) and the chosen ids (T,) to numbers; a logit of minus infinity adds nothing."""
    values, columns = largest(logits, min(top_k, logits.shape[1]))  # (T, k) each
    p = logits.softmax(dim=-1)  # (T, V)
    log_z = values[:, 0] - p.gather(1, columns[:, :1])[:, 0].log()  # (T,)
    own = logits.gather(1, torch.tensor(chosen)[:, None])[:, 0]  # (T,)
    # H = log Z - sum_i p_i logit_i, in nats
    mean = p.mul_(logits).nansum(dim=-1) if torch.isneginf(logits.amin()) else p.mul_(logits).sum(dim=-1)
    bits = ((log_z - mean) / math.log(2)).clamp_(min=0.0)  # (T,)
    rows = zip(columns.tolist(), values.tolist(), log_z.tolist(), own.tolist(), bits.tolist(), strict=True)
    return [_Row(list(zip(ids, best, strict=True)), z, logit, h) for ids, best, z, logit, h in rows]
