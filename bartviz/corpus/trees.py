"""How many arcs of a tree of words each head follows.

Letters in shapes: B texts, W words of a tree, L layers, H heads, Q query rows, K key columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bartviz.analysis.measure_inputs import mean
from bartviz.corpus.conllu import Tree
from bartviz.corpus.relations import Relations

PUNCTUATION = "punct"


@dataclass(frozen=True, eq=False)
class Arcs:
    """The trees of a batch: which tokens a word has (B, W, K) and its head's place (B, W); ``counted`` (B, W) the words
    that have a head of other tokens and are no punctuation, with the names of their ``relations``."""

    members: Tensor
    heads: Tensor
    counted: Tensor
    relations: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, trees: Sequence[tuple[Tree, NDArray[np.bool_]] | None], columns: int) -> Arcs:
        """From the trees and the tokens of their words."""
        most = max(1, *(0 if one is None else len(one[0]) for one in trees))
        members = torch.zeros(len(trees), most, columns)
        heads = torch.zeros(len(trees), most, dtype=torch.int64)
        counted = torch.zeros(len(trees), most, dtype=torch.bool)
        names: list[tuple[str, ...]] = []
        for text, one in enumerate(trees):
            tree, tokens = one if one is not None else ((), np.zeros((0, 0), np.bool_))
            members[text, : len(tree), : tokens.shape[1]] = torch.from_numpy(tokens.astype(np.float32))
            for word, (_start, _stop, head, relation) in enumerate(tree):
                there = head >= 0 and tokens[word].any() and tokens[head].any()
                heads[text, word] = max(head, 0)
                counted[text, word] = bool(
                    there and relation != PUNCTUATION and not np.array_equal(tokens[word], tokens[head])
                )
            names.append(tuple(arc[3] for arc in tree))
        return cls(members.to(torch.get_default_dtype()), heads, counted, tuple(names))

    def followed(self, weights: Tensor) -> Tensor:
        """(B, 2, H, W) from weights (B, H, Q, K): whether a word looks most at its head, among other words, and whether
        its head looks most at it. Weights are averaged over the tokens of a word that looks, and summed over those of
        one that is looked at (Clark et al. 2019, 4.1)."""
        size = self.members.sum(dim=-1, keepdim=True)
        rows = (self.members / size.clamp(min=1))[:, None] @ weights  # (B, H, W, K)
        between = rows @ self.members.mT[:, None]  # (B, H, W, W)
        shared = (self.members @ self.members.mT) > 0  # a word and those of the same tokens
        between = between.masked_fill((shared | (size[..., 0] == 0)[:, None])[:, None], -1.0)
        weight, chosen = between.max(dim=-1)  # (B, H, W)
        chosen = chosen.where(weight > 0, -1)  # the first word of a decoder sees no other
        heads = self.heads[:, None].expand_as(chosen)
        words = torch.arange(heads.shape[-1])
        return torch.stack([chosen == heads, chosen.gather(-1, heads) == words], dim=1) & self.counted[:, None, None]

    def even(self) -> Tensor:
        """(B,) the share of arcs that a head follows which chooses among the other words at random."""
        words = (self.members.sum(dim=-1) > 0).sum(dim=-1)
        share: Tensor = mean(torch.ones(len(words)), (words - 1).clamp(min=0))
        return share.where(self.counted.any(dim=-1), torch.nan)

    def relations_followed(self, layers: Sequence[Tensor]) -> Relations:
        """The arcs that were followed, by relation, from the results of ``followed`` for each layer."""
        found = torch.stack(list(layers), dim=2).cpu().numpy()  # (B, 2, L, H, W)
        return Relations.of(self.relations, self.heads.cpu().numpy(), self.counted.cpu().numpy(), found)
