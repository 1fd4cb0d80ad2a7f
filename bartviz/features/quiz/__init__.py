"""A quiz about one record: questions about its numbers, each with one right answer and an explanation.

Every wrong option is wrong by a stated margin (``CLEARLY``, ``APART``, ``BITS``, ...), so that no question has two
right answers. The same record, seed and count give the same questions.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

import numpy as np

from bartviz.errors import SettingError, WeightsOnlyError
from bartviz.features.quiz import heads, model, noise, output, rows
from bartviz.features.quiz.question import Grid, Maker, Material, Option, Question
from bartviz.language import later
from bartviz.record.record import Record

__all__ = ["AT_LEVEL", "COUNT", "KINDS", "MOST_QUESTIONS", "MOST_SEED", "Grid", "Option", "Question", "questions"]

COUNT, MOST_QUESTIONS, MOST_SEED = 10, 40, 999_999
_LAPS = 6  # how often each kind is asked for another question, at most

Subject = tuple[str, str, str]  # the kind of question, its prompt, and what it is about

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

    A kind is repeated only when all possible kinds have been asked, and no question is asked twice. The next seed
    begins with other questions, where the record has others. Raises SettingError for a seed or count out of range.
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
    asked: set[Subject] = set()
    found: list[Question] = []
    for lap in range(_LAPS):
        for kind in order:
            others = _rounds_beside(material, seed, kind) if lap == 0 else frozenset[Subject]()
            made = _new(material, (seed, lap), kind, asked | others) if others else None
            made = made or _new(material, (seed, lap), kind, asked)  # a short text has the same question each time
            if made is not None:
                asked |= _subjects(made)
                found.append(made)
            if len(found) == count:
                return _sorted(found)
    return _sorted(found)


def _rounds_beside(material: Material, seed: int, kind: str) -> frozenset[Subject]:
    """The subjects of the first question of a kind in the rounds before and after this one.

    Rounds of even seeds ask what comes first; those of odd seeds avoid both, so that two rounds in a row differ.
    """
    if seed % 2 == 0:
        return frozenset()
    made = (_made(material, (other % (MOST_SEED + 1), 0), kind) for other in (seed - 1, seed + 1))
    return frozenset(subject for one in made if one is not None for subject in _subjects(one))


def _new(material: Material, draw: tuple[int, int], kind: str, asked: Collection[Subject]) -> Question | None:
    """A question of the kind that is not about any of these, if one is found in a few draws."""
    seed, first = draw
    for lap in range(first, _LAPS):
        made = _made(material, (seed, lap), kind)
        if made is None or not _subjects(made) & set(asked):
            return made
    return None


def _made(material: Material, draw: tuple[int, int], kind: str) -> Question | None:
    try:
        return KINDS[kind](material, np.random.default_rng((*draw, list(KINDS).index(kind))))
    except WeightsOnlyError:  # a record of given weights has nothing to ask about here
        return None


def _subjects(question: Question) -> set[Subject]:
    """The subject of a question, and the names of its rows: two that share one of them ask a reader the same.

    Which answers are offered makes no difference, nor does the head that a row is of, or which number of it is hidden.
    """
    about = {name: value for name, value in question.about.items() if name not in ("head", "column", "seed")}
    rows = [(grid.rows, grid.columns) for grid in question.grids if grid.digits]
    return {(question.kind, question.prompt, repr(each)) for each in (sorted(about.items()), rows) if each}


def _sorted(found: list[Question]) -> tuple[Question, ...]:
    return tuple(sorted(found, key=lambda question: list(KINDS).index(question.kind)))
