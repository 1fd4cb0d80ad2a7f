"""A quiz about one record: questions about its numbers, each with one right answer and an explanation.

Every wrong option is wrong by a stated margin (``CLEARLY``, ``APART``, ``BITS``, ...), so that no question has two
right answers. The same record, seed, count and level give the same questions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType

import numpy as np

from bartviz.errors import SettingError, WeightsOnlyError
from bartviz.features.quiz import heads, model, noise, output, ribbons, rows
from bartviz.features.quiz.question import Fact, Grid, Look, Maker, Material, Option, Question, Subject
from bartviz.language import later
from bartviz.record.record import Record

__all__ = ["AT_LEVEL", "COUNT", "KINDS", "MOST_QUESTIONS", "MOST_SEED", "Grid", "Option", "Question", "questions"]

COUNT, MOST_QUESTIONS, MOST_SEED = 10, 40, 999_999
_LAPS = 8  # how often each kind is asked for another question, at most
_OWN, _BEYOND = 2, 5  # laps before easier kinds fill a round, and before the subjects of the rounds beside it do

# In the order in which a round asks: what can be seen at once comes first.
KINDS: Mapping[str, Maker] = MappingProxyType(
    {
        "ribbon": ribbons.ribbon,
        "ribbon_back": ribbons.ribbon_back,
        "look": heads.look,
        "shift": output.shift,
        "whose": rows.whose,
        "looked_at": heads.looked_at,
        "last": rows.last,
        "unsure": output.unsure,
        "previous": heads.previous,
        "missing": rows.missing,
        "rest": heads.rest,
        "impossible": rows.impossible,
        "received": heads.received,
        "product": output.product,
        "rule": output.rule,
        "entropy": rows.entropy,
        "average": heads.average,
        "noise": noise.noise,
        "shared": model.shared,
        "feed_forward": model.feed_forward,
        "memory": model.memory,
        "scale": model.scale,
        "scores": rows.scores,
        "temperature": output.temperature,
    }
)

OPENING = ("ribbon", "ribbon_back")
"""A round that asks of these begins with them: the picture and the words of the start page."""

# What a level of explanation asks about; no kind belongs to two levels.
AT_LEVEL: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"beginner": tuple(KINDS)[:10], "intermediate": tuple(KINDS)[10:18], "expert": tuple(KINDS)[18:]}
)


def questions(
    record: Record, seed: int, count: int = COUNT, *, level: str = "beginner", kinds: Collection[str] = ()
) -> tuple[Question, ...]:
    """``count`` questions of a level about a record, or fewer if there are no more; no two ask about the same fact.

    ``kinds`` instead of those of the level. Kinds of easier levels fill a round where a record has too little for its
    own. The next seed asks about other facts, where the record has others, and so does another level. Raises
    SettingError for a seed or count out of range.
    """
    if not 0 <= seed <= MOST_SEED or not 1 <= count <= MOST_QUESTIONS:
        raise SettingError(
            later(
                "A seed is from 0 to {seed:,}, and a quiz has 1 to {count} questions.",
                seed=MOST_SEED,
                count=MOST_QUESTIONS,
            )
        )
    below = () if kinds else tuple(AT_LEVEL)[: list(AT_LEVEL).index(level)]
    easier = tuple(kind for name in below[::-1] for kind in AT_LEVEL[name])
    own = tuple(kinds) or AT_LEVEL[level]
    material, random = Material(record), np.random.default_rng(seed)
    order = sorted((own[place] for place in random.permutation(len(own))), key=lambda kind: kind not in OPENING)
    decks = {kind: _deck(material, seed, kind) for kind in (*order, *easier)}
    found: list[tuple[int, Question]] = []
    asked, elsewhere, seen = set[Fact](), set[Fact](), set[Look]()
    for lap in range(_LAPS):
        if lap == _OWN and len(found) < count:
            elsewhere = {one.fact for name in below for one in questions(record, seed, count, level=name)}
        for kind in order if lap < _OWN else (*order, *easier):
            if len(found) == count:
                break
            skipped = asked | elsewhere if kind in easier and lap < _BEYOND else asked
            question = _next(decks[kind], skipped, seen, beyond=lap >= _BEYOND)
            if question is not None:
                asked.add(question.fact)
                seen.add(question.look)
                found.append((lap, question))
    return tuple(question for _, question in sorted(found, key=lambda one: (one[0], list(KINDS).index(one[1].kind))))


Deck = tuple[Iterator[Question], Iterator[Question]]  # this round's half of a kind's subjects, and the other half


def _deck(material: Material, seed: int, kind: str) -> Deck:
    """The questions of a kind, made one by one.

    Rounds of even seeds have one half of its subjects, odd ones the other, so that two rounds in a row differ; within
    its half a round begins where the one before the last has ended.
    """
    maker, number = KINDS[kind], list(KINDS).index(kind)
    try:
        subjects = list(maker.subjects(material))
    except WeightsOnlyError:  # a record of given weights has nothing to ask about here
        subjects = []
    order = np.random.default_rng((number, len(subjects))).permutation(len(subjects)).tolist()

    def made(odd: int) -> Iterator[Question]:
        half = [at for turn, at in enumerate(order) if _parity(subjects[at], turn) == odd]
        first = seed // 2 * _OWN % max(len(half), 1)
        for at in half[first:] + half[:first]:
            question = _made(maker, material, (seed, number, at), subjects[at])
            if question is not None:
                yield question

    return made(seed % 2), made(1 - seed % 2)


def _parity(subject: Subject, turn: int) -> int:
    """The half that a subject belongs to: its row's, so that all kinds agree on it, or else that of its turn."""
    last = subject[-1]
    return (last if type(last) is int else turn) % 2


def _made(maker: Maker, material: Material, draw: tuple[int, ...], subject: Subject) -> Question | None:
    try:
        return maker.ask(material, np.random.default_rng(draw), subject)
    except WeightsOnlyError:
        return None


def _next(deck: Deck, asked: Collection[Fact], seen: Collection[Look], *, beyond: bool) -> Question | None:
    """The next question of a deck about something that has not been asked, and that does not look like one that has;
    ``beyond``: of its other half, too."""
    for half in deck[: 1 + beyond]:
        for question in half:
            if question.fact not in asked and question.look not in seen:
                return question
    return None
