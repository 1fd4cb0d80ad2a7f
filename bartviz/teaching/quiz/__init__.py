"""A quiz about one record: questions about its numbers, each with one right answer and an explanation.

Every wrong option is wrong by a stated margin (``CLEARLY``, ``APART``, ``BITS``, ...), so that no question has two
right answers. The same record, seed and count give the same questions.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

import numpy as np

from bartviz.errors import SettingError, WeightsOnlyError
from bartviz.language import later
from bartviz.record.record import Record
from bartviz.teaching.quiz import heads, model, noise, output, rows
from bartviz.teaching.quiz.question import Grid, Maker, Material, Option, Question

__all__ = ["AT_LEVEL", "COUNT", "KINDS", "MOST_QUESTIONS", "MOST_SEED", "Grid", "Option", "Question", "questions"]

COUNT, MOST_QUESTIONS, MOST_SEED = 10, 40, 999_999
_LAPS = 6  # how often each kind is asked for another question, at most

# In the order in which a round asks: what can be seen at once comes first.
KINDS: Mapping[str, Maker] = MappingProxyType(
    {
        "closed": rows.closed,
        "whose": rows.whose,
        "missing": rows.missing,
        "impossible": rows.impossible,
        "look": heads.look,
        "shift": output.shift,
        "previous": heads.previous,
        "rest": heads.rest,
        "product": output.product,
        "rule": output.rule,
        "entropy": rows.entropy,
        "average": heads.average,
        "noise": noise.noise,
        "shared": model.shared,
        "feed_forward": model.feed_forward,
        "memory": model.memory,
    }
)


# What a level of explanation asks about; the highest one asks about everything.
AT_LEVEL: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"beginner": tuple(KINDS)[:8], "intermediate": tuple(KINDS)[:13], "expert": tuple(KINDS)}
)


def questions(
    record: Record, seed: int, count: int = COUNT, *, kinds: Collection[str] = tuple(KINDS)
) -> tuple[Question, ...]:
    """``count`` questions of these kinds about a record, or fewer if there are no more; easy ones first.

    A kind is repeated only when all possible kinds have been asked. Raises SettingError for a seed or count out of
    range.
    """
    if not 0 <= seed <= MOST_SEED or not 1 <= count <= MOST_QUESTIONS:
        raise SettingError(
            later(
                "A seed is from 0 to {seed:,}, and a quiz has 1 to {count} questions.",
                seed=MOST_SEED,
                count=MOST_QUESTIONS,
            )
        )
    material = Material(record)
    drawn = [list(KINDS)[place] for place in np.random.default_rng(seed).permutation(len(KINDS))]
    order = [kind for kind in drawn if kind in kinds]
    found: list[Question] = []
    for lap in range(_LAPS):
        for kind in order:
            random = np.random.default_rng((seed, lap, list(KINDS).index(kind)))
            try:
                made = KINDS[kind](material, random)
            except WeightsOnlyError:  # a record of given weights has nothing to ask about here
                continue
            if made is not None and all(_asked(made) != _asked(known) for known in found):
                found.append(made)
            if len(found) == count:
                return _sorted(found)
    return _sorted(found)


def _asked(question: Question) -> tuple[object, ...]:
    """The identity of a question: equal for two questions that ask the same."""
    return question.prompt, question.grids, "" if question.grids else question.right.text


def _sorted(found: list[Question]) -> tuple[Question, ...]:
    return tuple(sorted(found, key=lambda question: list(KINDS).index(question.kind)))
