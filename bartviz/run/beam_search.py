"""Beam search without a model: it takes the scores of the next token and returns the beams to continue.

Each step considers the best continuations of all beams: (1 + number of end tokens, at least 2) x beams of them, so that
enough remain when some end. Those of the first ``beams`` that end go into a pool of finished texts, ranked by
score = (sum of log p) / length ** length_penalty (Wu et al. 2016 use the same idea with another formula).
The search stops when ``generate()`` would. Letters in shapes: B beams, V vocabulary, t tokens so far, C continuations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import torch
from torch import Tensor

from bartviz.errors import SettingError
from bartviz.language import later
from bartviz.record.beam_tree import EarlyStopping
from bartviz.record.vocabulary import BEAM_SEARCH

LARGEST_PENALTY = 10.0
_NEVER = -1e9  # added to the log p of excluded continuations; float32 as in generate(), so that ties agree
_ALIVE = -1e8  # a sum of log p below this marks an empty slot


@dataclass(frozen=True, slots=True)
class Settings:
    """How beams are ranked and when the search stops; ``BeamTree`` explains both."""

    beams: int
    length_penalty: float = 1.0
    early_stopping: EarlyStopping = False

    @property
    def settings(self) -> dict[str, object]:
        """The settings by name, as a record's provenance holds them."""
        return {"mode": BEAM_SEARCH, **asdict(self)}


@dataclass(frozen=True, slots=True)
class Continuation:
    """A token that may follow one of the beams.

    ``parent``: index of the previous continuation, None at the start. ``beam``: the batch row that scored it.
    """

    step: int
    parent: int | None
    beam: int
    token: int
    score: float
    rank: int
    state: Literal["open", "pruned", "finished"]


class Search:
    """The search for one text: call ``advance`` with the scores of each beam until ``done``.

    ids (B, t): tokens of the beams, prompt included. rows (B,): the row of the last scores that each beam continues.
    nodes: every continuation so far. best: index of the finished one with the highest score, or None.
    """

    def __init__(self, start: Sequence[int], settings: Settings, *, longest: int, ends: Sequence[int]) -> None:
        beams = settings.beams
        self.ids = torch.tensor([list(start)] * beams)
        self.rows = torch.zeros(beams, dtype=torch.long)
        self.nodes: list[Continuation] = []
        self.best: int | None = None
        self.done = False
        self._settings = settings
        self._prompt, self._longest = len(start), longest
        self._ends = torch.tensor(list(ends), dtype=torch.long)
        self._totals = torch.full((beams,), _NEVER)  # at the start only the first beam holds a text
        self._totals[0] = 0.0
        self._numbers: list[int | None] = [None] * beams  # node index of each beam
        self._pool = torch.full((beams,), _NEVER)  # scores of the finished texts, the best first
        self._pooled = torch.zeros(beams, dtype=torch.bool)
        self._pool_numbers: list[int | None] = [None] * beams
        self._can_improve = True

    def advance(self, scores: Tensor) -> range:
        """Choose among all continuations from log p after rules (B, V) -> the indices of the new nodes.

        Raises SettingError if the rules leave no token.
        """
        beams, vocabulary = self._settings.beams, scores.shape[1]
        length = self.ids.shape[1] + 1 - self._prompt
        sums = (scores + self._totals[:, None]).flatten()  # (B V,)
        considered = min(max(2, 1 + len(self._ends)) * beams, len(sums))
        totals, positions = sums.topk(considered)  # (C,)
        rows, tokens = positions // vocabulary, positions % vocabulary
        ended = torch.isin(tokens, self._ends) | (length + self._prompt >= self._longest)  # (C,)
        ranked = totals / length**self._settings.length_penalty
        finished = ended & (torch.arange(considered) < beams)
        going = (totals + ended.float() * _NEVER).topk(beams)
        kept = going.indices.tolist()
        new = len(self.nodes)
        numbers = self._add_nodes(length - 1, totals, rows, tokens, ranked, ended, finished, set(kept))
        self._finish(ranked, finished, numbers)
        if len(self.nodes) == new and self.best is None:
            raise SettingError(later("The rules forbid every token. Loosen them, or leave them out."))
        self.rows, self._totals = rows[going.indices], going.values
        self.ids = torch.cat([self.ids[self.rows], tokens[going.indices, None]], dim=1)  # (B, t + 1)
        self._numbers = [numbers[position] for position in kept]
        self.done = len(self.nodes) == new or bool(ended.all()) or self._may_stop(length)
        return range(new, len(self.nodes))

    def _add_nodes(
        self,
        step: int,
        totals: Tensor,
        rows: Tensor,
        tokens: Tensor,
        ranked: Tensor,
        ended: Tensor,
        finished: Tensor,
        kept: set[int],
    ) -> list[int | None]:
        """Add a node for each continuation (C,) -> their indices; None for an empty slot."""
        numbers: list[int | None] = []
        columns = (totals, rows, tokens, ranked, ended, finished)
        for rank, (total, row, token, score, ends, wins) in enumerate(
            zip(*(column.tolist() for column in columns), strict=True)
        ):
            if total < _ALIVE:
                numbers.append(None)
                continue
            state: Literal["open", "pruned", "finished"]
            state = "finished" if wins else "open" if rank in kept and not ends else "pruned"
            numbers.append(len(self.nodes))
            self.nodes.append(Continuation(step, self._numbers[row], row, token, score, rank, state))
        return numbers

    def _finish(self, ranked: Tensor, finished: Tensor, numbers: Sequence[int | None]) -> None:
        """Add the texts that just ended to the pool, and keep its best."""
        merged = torch.cat([self._pool, ranked + (~finished).float() * _NEVER]).topk(self._settings.beams)
        self._pool = merged.values
        self._pooled = torch.cat([self._pooled, finished])[merged.indices]
        every = [*self._pool_numbers, *numbers]
        self._pool_numbers = [every[i] for i in merged.indices.tolist()]
        if bool(self._pooled[0]) and self._pool_numbers[0] is not None:
            self.best = self._pool_numbers[0]

    def _may_stop(self, length: int) -> bool:
        """Whether enough texts have ended, or no open one can be expected to beat the worst in the pool."""
        penalty, early = self._settings.length_penalty, self._settings.early_stopping
        likely = self._longest - self._prompt if early == "never" and penalty > 0 else length
        reachable = self._totals[0] / likely**penalty
        worst = torch.where(self._pooled, self._pool.min(), _NEVER)  # (B,)
        self._can_improve = self._can_improve and bool((reachable > worst).any())
        return not self._can_improve or (early is True and bool(self._pooled.all()))
