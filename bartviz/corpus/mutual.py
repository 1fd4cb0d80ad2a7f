"""The words that choose each other in a batch, and their error against alignments made by hand.

Letters in shapes: B texts, H heads, Q query rows, K key columns, T and S words of rows and columns, n tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from bartviz.corpus.encode import Encoded, Padded


@dataclass(frozen=True, eq=False)
class Mutual:
    """Words that choose each other: ``chosen`` (B, H, T) the column that a row's word looks at most, ``weight`` that
    weight, ``mutual`` whether the column's word looks at the row most, too; ``words`` (B,) of the rows."""

    chosen: Tensor
    weight: Tensor
    mutual: Tensor
    words: Tensor

    @classmethod
    def of(cls, weights: Tensor, named: Tensor, columns: Tensor) -> Mutual:
        """From weights (B, H, Q, S), the tokens of the rows' words (B, T, Q), and those of the columns' (B, S, K)."""
        size = named.sum(dim=-1)  # (B, T) tokens of each word
        merged = (named / size.clamp(min=1)[..., None])[:, None] @ weights  # (B, H, T, S)
        there = (size > 0)[:, None, :, None] & (columns.sum(dim=-1) > 0)[:, None, None]
        merged = merged.masked_fill(~there, -1.0)
        weight, chosen = merged.max(dim=-1)  # (B, H, T)
        mutual = merged.argmax(dim=-2).gather(-1, chosen) == torch.arange(merged.shape[2])
        words = (size > 0).sum(dim=-1) * (columns.sum(dim=(-1, -2)) > 0)
        return cls(chosen, weight, mutual & (weight > 0), words)

    def score(self) -> Tensor:
        """(B, H)."""
        return mean((self.weight * self.mutual).sum(dim=-1), self.words[:, None])

    def error(self, gold: Links) -> Tensor:
        """(B, H) the error rate (Och and Ney 2003)."""
        there = gold.sure[:, None].expand(-1, self.chosen.shape[1], -1, -1), gold.possible[:, None]
        right = sum(
            (links.expand_as(there[0]).gather(-1, self.chosen[..., None])[..., 0] & self.mutual).sum(dim=-1)
            for links in there
        )  # (B, H)
        whole = self.mutual.sum(dim=-1) + gold.sure.sum(dim=(1, 2))[:, None]
        rate = 1 - right / whole.clamp(min=1)
        return torch.where(gold.known[:, None] & (whole > 0), rate, torch.nan)


@dataclass(frozen=True, eq=False)
class Links:
    """Alignments by hand: ``sure`` and ``possible`` (B, T, S), and (B,) whether a text has one."""

    sure: Tensor
    possible: Tensor
    known: Tensor

    @classmethod
    def of(cls, rows: Sequence[Encoded]) -> Links:
        targets = max(1, *(0 if row.output is None else row.output.word_count for row in rows))
        sources = max(1, *(row.source.word_count for row in rows))
        sure, possible = (torch.zeros(len(rows), targets, sources, dtype=torch.bool) for _ in range(2))
        for index, row in enumerate(rows):
            gold = row.gold
            for source, target in () if gold is None else gold.possible:
                possible[index, target, source] = True
                sure[index, target, source] = gold is not None and (source, target) in gold.sure
        return cls(sure, possible, torch.tensor([row.gold is not None for row in rows]))


def members(tokens: Padded) -> Tensor:
    """(B, T, n) 1 where a token belongs to a word."""
    count = int(tokens.words.max()) + 1
    return (tokens.words[:, None] == torch.arange(max(count, 1))[None, :, None]).float()


def mean(total: Tensor, number: Tensor) -> Tensor:
    """The total by the number, NaN where that is 0."""
    return torch.where(number > 0, total / number.clamp(min=1), torch.nan)
