"""Logits -> steps: candidates, entropy and log-probability of each generated (or given) token, from raw logits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from bartviz.errors import SettingError
from bartviz.language import later
from bartviz.models.output import Rows
from bartviz.record.checks import LIMITS, LOGITS, Check
from bartviz.record.steps import StepNumbers, Steps
from bartviz.text import tokenize
from bartviz.text.labels import CONTINUES

_ROWS, _MADE = 256, 1 << 24  # rows whose logits are made at once, and logits: 64 MB; fewer rows cost a product more
_AT_ONCE = 1 << 19  # logits processed at once: 2 MB of float32 fit in the cache
_BLOCK = 64  # columns per block; the maximum of each block is computed first


def largest(rows: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The k largest of each row (T, V) -> values and columns (T, k), largest first: ``topk`` at half the cost.

    The k largest numbers are in the k blocks with the largest maxima, or in the rest after the last whole block.
    """
    blocks = rows.shape[1] // _BLOCK
    if blocks <= k:
        best = rows.topk(k, dim=-1)
        return best.values, best.indices
    whole = rows[:, : blocks * _BLOCK].reshape(len(rows), blocks, _BLOCK)  # (T, blocks, 64)
    chosen = whole.amax(dim=-1).topk(k, dim=-1).indices.sort(dim=-1).values  # (T, k)
    inside = whole.gather(1, chosen[:, :, None].expand(-1, -1, _BLOCK)).flatten(1)  # (T, k * 64)
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


def rows_of(logits: Tensor, top_k: int) -> list[Row]:
    """From raw logits (T, V) to numbers; a logit of minus infinity adds nothing to the entropy."""
    values, columns = largest(logits, min(top_k, logits.shape[1]))  # (T, k) each
    p = logits.softmax(dim=-1)  # (T, V)
    log_z = values[:, 0] - p.gather(1, columns[:, :1])[:, 0].log()  # (T,)
    # H = log Z - sum_i p_i logit_i, in nats
    products = p.mul_(logits)  # (T, V)
    mean = products.sum(dim=-1)  # (T,)
    if mean.isnan().any():  # 0 times minus infinity
        mean = products.nansum(dim=-1)
    bits = ((log_z - mean) / math.log(2)).clamp_(min=0.0)  # (T,)
    rows = zip(columns.tolist(), values.tolist(), log_z.tolist(), bits.tolist(), strict=True)
    return [Row(list(zip(ids, best, strict=True)), z, h) for ids, best, z, h in rows]


_LABELS: WeakKeyDictionary[PreTrainedTokenizerBase, dict[int, str]] = WeakKeyDictionary()


class Summary:
    """Turns rows of logits into the numbers of steps, and labels candidates as they would read in context."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase, top_k: int) -> None:
        if top_k < 1:
            raise SettingError(later("top_k is {top_k}; choose 1 or more.", top_k=top_k))
        self._tokenizer = tokenizer
        self._top_k = top_k
        self._labels = _LABELS.setdefault(tokenizer, {})

    def step(
        self,
        position: int,
        row: int,
        logits: Tensor,
        token: int,
        rule: str | None = None,
        filtered: Tensor | None = None,
    ) -> StepNumbers:
        """One step from the raw logits (V,) of its row; ``token`` was chosen or given.

        Entropy in bits, log-probability in nats, both over the whole vocabulary. ``filtered`` (V,): probabilities from
        which the token was drawn.
        """
        numbers = self.rows(logits[None])[0]
        drawn = None if filtered is None else filtered[[i for i, _ in numbers.best] + [token]].tolist()
        return StepNumbers(
            position, row, numbers.best, numbers.log_z, numbers.bits, token, float(logits[token]), rule, drawn
        )

    def rows(self, logits: Tensor) -> list[Row]:
        """The numbers of each row of raw logits (B, V)."""
        return rows_of(logits.float(), self._top_k)

    def given(self, logits: Tensor | Rows, chosen: Sequence[int], *, first: int = 0) -> list[StepNumbers]:
        """The numbers of a step for each row of logits (T, V) from ``first`` on; ``chosen`` followed each row."""
        steps: list[StepNumbers] = []
        rows = max(min(_ROWS, _MADE // logits.shape[1]), 1)
        for start in range(first, len(chosen), rows):
            stop = min(start + rows, len(chosen))
            made = logits[start:stop]  # (rows, V)
            of_chosen = made.gather(1, torch.tensor(chosen[start:stop])[:, None])[:, 0].tolist()
            found = [row for part in torch.split(made, max(_AT_ONCE // made.shape[1], 1)) for row in self.rows(part)]
            steps += (
                StepNumbers(row - first, row, numbers.best, numbers.log_z, numbers.bits, chosen[row], logit)
                for row, (numbers, logit) in enumerate(zip(found, of_chosen, strict=True), start)
            )
            del made  # its memory is free for the next rows
        return steps

    def compared(self, numbers: StepNumbers, logits: Tensor) -> Check:
        """How far a step's numbers are from the raw logits (V,) of its row, recomputed in float64."""
        exact = logits.double()
        log_p = exact.log_softmax(-1)
        entropy = float(torch.special.entr(log_p.exp()).sum()) / math.log(2)
        best = exact.topk(len(numbers.best)).values.tolist()
        logit_errors = [abs(value - exact_value) for (_, value), exact_value in zip(numbers.best, best, strict=True)]
        id_errors = [abs(logit - float(exact[i])) for i, logit in numbers.best]
        exact_log_p = float(log_p[numbers.token])
        other_errors = [
            abs(numbers.bits - entropy),
            0.0 if exact_log_p == numbers.log_probability else abs(exact_log_p - numbers.log_probability),
        ]
        scale = max(1.0, abs(best[0]))  # float32 keeps a fixed number of digits of a logit
        return Check(
            LOGITS,
            max(0.0 if math.isnan(one) else one for one in (*logit_errors, *id_errors, *other_errors)) / scale,
            LIMITS[LOGITS],
        )

    def steps(self, numbers: Sequence[StepNumbers], inputs: Sequence[int]) -> Steps:
        """The steps of these numbers; ``inputs`` are the tokens that the decoder's rows read."""
        read = tuple(inputs)
        return Steps(numbers, lambda token, row: self.label(token, read[: row + 1]))

    def label(self, token: int, before: Sequence[int]) -> str:
        """The token's label after the ids ``before``; only a token that may continue a word depends on them."""
        if token not in self._labels:
            self._labels[token] = tokenize.label(self._tokenizer, token)
        alone = self._labels[token]
        return tokenize.label(self._tokenizer, token, before) if alone.startswith(CONTINUES) else alone
