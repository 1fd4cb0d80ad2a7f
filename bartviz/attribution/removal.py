"""Words of the source taken away: what stands in their place, and what orders of taking them away are compared by.

Letters in shapes: W words that can be taken away, T steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, get_args

import numpy as np

from bartviz.analysis import removals
from bartviz.analysis.intervals import Doubles
from bartviz.analysis.removals import Measure
from bartviz.arrays import Bools, Floats, Ints
from bartviz.attribution.erasure import replacement
from bartviz.attribution.filling import Filling, filler_of
from bartviz.attribution.reading import Ids, Reading, Text
from bartviz.errors import SettingError, choices
from bartviz.language import later
from bartviz.models.model import Model

Operator = Literal["delete", "mask", "exchange", "fill-in"]
OPERATORS: tuple[Operator, ...] = get_args(Operator)
"""What becomes of a word that is taken away: it is left out; each of its tokens becomes the mask token (the unknown
one, where there is none); a word of other texts stands in its place; the guess of a model that fills gaps stands
there, which is asked for all missing words at once and may not give the word itself."""


class Removal:
    """Takes words of a reading away, by one operator.

    pool: words of other texts, as ids, for ``exchange``; without any, the other words of the text itself. filler: the
    model whose guesses stand in a gap; None: ``filler_of(model)``. Raises SettingError for an operator that the model
    has not.
    """

    def __init__(
        self,
        reading: Reading,
        operator: Operator,
        random: np.random.Generator,
        *,
        pool: Sequence[Ids] = (),
        filler: Model | None = None,
    ) -> None:
        if operator not in OPERATORS:
            raise SettingError(
                later("There is no operator {name}: choose {names}.", name=operator, names=choices(OPERATORS))
            )
        self.reading = reading
        self._fill: Filling | None = None
        own = [tuple(reading.question.record.source.ids[word.start : word.end].tolist()) for word in reading.words]
        self._fixed: list[Ids] = [()] * len(own)
        if operator == "mask":
            self._fixed = [(replacement(reading.question.model),) * len(ids) for ids in own]
        elif operator == "exchange":
            self._fixed = [_other(ids, pool or own, random) for ids in own]
        elif operator == "fill-in":
            self._fill = Filling(reading, filler or filler_of(reading.question.model))

    def compared(
        self,
        scores: Floats,
        by_chance: Ints,
        random: np.random.Generator,
        measures: Iterable[Measure] = tuple(removals.MEASURES),
    ) -> dict[Measure, tuple[Doubles, Doubles]]:
        """Each measure of the orders by M methods' scores (M, T, W), as (M, T), and of random orders (R, W) as (R, T).

        Words with equal scores are in random order.
        """
        methods, steps, words = scores.shape
        ranked = np.stack([removals.order(row, random) for row in scores.reshape(-1, words)])  # (M T, W)
        found = removals.measured(np.concatenate([ranked, by_chance]), self.values, measures)
        own = np.arange(steps)
        return {
            measure: (values[: len(ranked)].reshape(methods, steps, steps)[:, own, own], values[len(ranked) :])
            for measure, values in found.items()
        }

    def texts(self, sets: Bools) -> list[Text]:
        """The text without each of these sets of words (sets, W)."""
        gone = [np.flatnonzero(row).tolist() for row in sets]
        if self._fill is None:
            return [self.reading.without(some, self._fixed.__getitem__) for some in gone]
        guessed = self._fill.guesses(gone)
        return [self.reading.without(some, words.__getitem__) for some, words in zip(gone, guessed, strict=True)]

    def values(self, sets: Bools) -> Doubles:
        """(sets, T) the probability of each explained token without each of these sets of words (sets, W); or against
        another token, the difference of their logits."""
        return self.reading.values(self.texts(sets))


def _other(own: Ids, pool: Sequence[Ids], random: np.random.Generator) -> Ids:
    """A word of the pool other than this one, or nothing where there is none."""
    others = [ids for ids in pool if ids != own] if len(pool) < 100 else pool
    for _ in range(100 if others else 0):
        if (drawn := others[int(random.integers(len(others)))]) != own:
            return drawn
    return ()
