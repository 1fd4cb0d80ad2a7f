"""Texts cut into other pieces than usual: BPE dropout (Provilkov et al. 2020) from a generator that can be seeded.

The tokenizer has dropout of its own, but no seed for it, and a run that is gone on with must draw what it would have.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from typing import Any

from numpy.random import Generator


class Pieces:
    """Byte-level BPE whose merges are left out at random."""

    def __init__(self, tokenizer: Any, longest: int) -> None:
        self._split = tokenizer.backend_tokenizer.pre_tokenizer.pre_tokenize_str
        merges = json.loads(tokenizer.backend_tokenizer.to_str())["model"]["merges"]
        self._rank = {tuple(pair): rank for rank, pair in enumerate(merges)}
        self._ids: dict[str, int] = tokenizer.get_vocab()
        self._ends = tokenizer.bos_token_id, tokenizer.eos_token_id
        self._longest = longest

    def encode(self, texts: Sequence[str], drop: float, rng: Generator) -> list[list[int]]:
        """Token ids of each text between begin and end; each merge is left out with probability `drop`."""
        return [self._ids_of(text, drop, rng) for text in texts]

    def _ids_of(self, text: str, drop: float, rng: Generator) -> list[int]:
        found = [self._ids[piece] for word, _ in self._split(text) for piece in self.cut(word, drop, rng)]
        begin, end = self._ends
        return [begin, *found[: self._longest - 2], end]

    def cut(self, word: str, drop: float, rng: Generator) -> list[str]:
        """The pieces of a word: of the merges that are possible and not left out the first is made, until none is."""
        parts = list(word)
        while len(parts) > 1:
            known = [(self._rank.get(pair), i) for i, pair in enumerate(itertools.pairwise(parts))]
            ranked = [(rank, i) for rank, i in known if rank is not None]
            kept = [pair for pair, left in zip(ranked, rng.random(len(ranked)) >= drop, strict=True) if left]
            if not kept:
                break
            i = min(kept)[1]
            parts[i : i + 2] = [parts[i] + parts[i + 1]]
        return parts
