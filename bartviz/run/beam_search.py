"""Beam search by itself: scores of the next token in, the beams that go on out; it knows no model.

At every step the strongest continuations of all beams are looked at: (1 + number of end tokens, at least 2) x beams of
them, so that enough are left when some end. Those among the first ``beams`` that end go into a pool of finished texts,
ranked by score = (sum of log p) / length ** length_penalty (Wu et al. 2016 have the same idea with another formula).
The search stops as ``generate()`` does. Letters in shapes: B beams, V vocabulary, t tokens so far, C continuations.
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
_NEVER = -1e9  # added to the sum of log p of what must not be chosen; float32 as in generate(), so that ties agree
_ALIVE = -1e8  # a sum of log p below this belongs to no text


@dataclass(frozen=True, slots=True)
class Settings:
    """How beams are ranked, and when the search stops (BeamTree says it in words)."""

    beams: int
    length_penalty: float = 1.0
    early_stopping: EarlyStopping = False

    @property
    def settings(self) -> dict[str, object]:
        """The settings by name, as a record's provenance holds them."""
        return {"mode": BEAM_SEARCH, **asdict(self)}


@dataclass(frozen=True, slots=True)
class Continuation:
    """A token after one of the beams. ``parent`` is the number of the continuation before it, None at the start;
    ``beam`` the row of the batch whose scores it comes from."""

    step: int
    parent: int | None
    beam: int
    token: int
    score: float
    rank: int
    state: Literal["open", "pruned", "finished"]


class Search:
    """One text, many beginnings of it. ``advance`` is called with the scores of each beam until ``done``.

    ids (B, t): tokens of the beams, those given at the start included. rows (B,): for each beam the row of the last
    scores that it continues. nodes: every continuation so far. best: the number of the finished one with the highest
    score, or None.
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
        self._totals = torch.full((beams,), _NEVER)  # only the first beam is a text at the start
        self._totals[0] = 0.0
        self._numbers: list[int | None] = [None] * beams  # of the continuation that each beam is
        self._pool = torch.full((beams,), _NEVER)  # scores of the finished texts, the best first
        self._pooled = torch.zeros(beams, dtype=torch.bool)
        self._pool_numbers: list[int | None] = [None] * beams
        self._hopeful = True

    def advance(self, scores: Tensor) -> range:
        """Choose among all continuations, given log p after rules (B, V) -> the numbers of the new nodes.

        Raises SettingError where the rules leave nothing to go on with.
        """
        beams, vocabulary = self._settings.beams, scores.shape[1]
        length = self.ids.shape[1] + 1 - self._prompt
        sums = (scores + self._totals[:, None]).flatten()  # (B V,)
        considered = min(max(2, 1 + len(self._ends)) * beams, len(sums))
        totals, places = sums.topk(considered)  # (C,)
        rows, tokens = places // vocabulary, places % vocabulary
        ended = torch.isin(tokens, self._ends) | (length + self._prompt >= self._longest)  # (C,)
        ranked = totals / length**self._settings.length_penalty
        finished = ended & (torch.arange(considered) < beams)
        going = (totals + ended.float() * _NEVER).topk(beams)
        kept = going.indices.tolist()
        new = len(self.nodes)
        numbers = self._grow(length - 1, totals, rows, tokens, ranked, ended, finished, set(kept))
        self._finish(ranked, finished, numbers)
        if len(self.nodes) == new and self.best is None:
            raise SettingError(later("The rules leave no token to go on with. Loosen them, or leave them out."))
        self.rows, self._totals = rows[going.indices], going.values
        self.ids = torch.cat([self.ids[self.rows], tokens[going.indices, None]], dim=1)  # (B, t + 1)
        self._numbers = [numbers[place] for place in kept]
        self.done = len(self.nodes) == new or bool(ended.all()) or self._may_stop(length)
        return range(new, len(self.nodes))

    def _grow(
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
        """Write down what was looked at (C,) -> its numbers; what has no text behind it gets none."""
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
        """Put the texts that ended now into the pool, and keep its best."""
        merged = torch.cat([self._pool, ranked + (~finished).float() * _NEVER]).topk(self._settings.beams)
        self._pool = merged.values
        self._pooled = torch.cat([self._pooled, finished])[merged.indices]
        every = [*self._pool_numbers, *numbers]
        self._pool_numbers = [every[i] for i in merged.indices.tolist()]
        if bool(self._pooled[0]) and self._pool_numbers[0] is not None:
            self.best = self._pool_numbers[0]

    def _may_stop(self, length: int) -> bool:
        """Whether enough texts have ended, or no open one is expected to beat the worst of the pool."""
        penalty, early = self._settings.length_penalty, self._settings.early_stopping
        likely = self._longest - self._prompt if early == "never" and penalty > 0 else length
        reachable = self._totals[0] / likely**penalty
        worst = torch.where(self._pooled, self._pool.min(), _NEVER)  # (B,)
        self._hopeful = self._hopeful and bool((reachable > worst).any())
        return not self._hopeful or (early is True and bool(self._pooled.all()))
