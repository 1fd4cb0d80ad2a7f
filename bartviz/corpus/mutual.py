"""Alignments made by hand, and the error of words that choose each other against them.

Letters in shapes: B texts, H heads, T and S words of rows and columns, n tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from bartviz.analysis.mutual import Mutual
from bartviz.corpus.encode import Encoded, Padded


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


def error(mutual: Mutual, gold: Links) -> Tensor:
    """(B, H) the error rate of words that choose each other (Och and Ney 2003)."""
    right = sum(
        (
            links[:, None].expand(-1, mutual.chosen.shape[1], -1, -1).gather(-1, mutual.chosen[..., None])[..., 0]
            & mutual.mutual
        ).sum(dim=-1)
        for links in (gold.sure, gold.possible)
    )  # (B, H)
    whole = mutual.mutual.sum(dim=-1) + gold.sure.sum(dim=(1, 2))[:, None]
    rate = 1 - right / whole.clamp(min=1)
    return torch.where(gold.known[:, None] & (whole > 0), rate, torch.nan)
