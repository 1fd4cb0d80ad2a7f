"""Is attention an explanation? One word by a head, by hiding words, by a mean, by a gradient: each put to a test."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from bartviz.analysis import start
from bartviz.analysis.attribution_methods import METHODS
from bartviz.analysis.verdicts import BETTER
from bartviz.features.lessons.answers import Choice, Number, Spot, Touch, strongest
from bartviz.features.lessons.judged import judged
from bartviz.features.lessons.lesson import Lesson, Step
from bartviz.language import _
from bartviz.record.record import Record

HEAD, MEAN, GRADIENT, REMOVAL = "best head", "mean attention", "gradient x input", "leave-one-out"
LITTLE = 0.01  # a change of a probability that a reader does not see
SURE = 0.9


def _token(record: Record) -> dict[str, object]:
    """The word that is explained, its chance, and the chances without each word, by its place."""
    assert record.output is not None
    return {"token": record.output.labels[judged().row], "chance": judged().chance}


def _left(word: int) -> float:
    """The probability that is left without a word of the source."""
    return judged().chance * float(np.exp(-judged().of(REMOVAL)[word]))


def _first(method: str) -> int:
    """The word that a method names first; special tokens are no words."""
    return int(np.where(judged().special, -np.inf, judged().of(method)).argmax())


def _named(method: str) -> str:
    return judged().words[_first(method)]


def _looked(record: Record) -> Mapping[str, object]:
    head = start.head_of(record, "cross")
    weights = judged().of(HEAD)
    return {
        **_token(record),
        "head": f"L{head.layer}H{head.head}",
        "word": _named(HEAD),
        "weight": float(weights[_first(HEAD)]),
    }


def _hidden(record: Record) -> Mapping[str, object]:
    return {
        **_token(record),
        "word": _named(REMOVAL),
        "after": _left(_first(REMOVAL)),
        "looked": _named(HEAD),
        "same": _first(HEAD) == _first(REMOVAL),
    }


def _mean(record: Record) -> Mapping[str, object]:
    one, weights = judged(), judged().of(MEAN)
    idle = _idle()
    attention = record.attention("cross")
    layers, heads = attention.shape[:2]
    rows = np.stack([attention.layer(layer)[:, one.row] for layer in range(layers)])  # (L, H, K)
    column = record.source.labels.index(one.words[idle])
    return {
        **_token(record),
        "heads": layers * heads,
        "agree": int((rows.argmax(axis=2) == column).sum()),
        "idle": one.words[idle],
        "weight": float(weights[idle]),
        "left": _left(idle),
        "marks": ", ".join(word for word, special in zip(one.words, one.special, strict=True) if special),
        "rest": float(weights[one.special].sum()),
        "little": abs(_left(idle) - one.chance) < LITTLE,
    }


def _idle() -> int:
    """The word with the most mean attention among those without which the token is as likely as before."""
    one = judged()
    lost = np.array([abs(_left(word) - one.chance) for word in range(len(one.words))])
    return int(np.where(one.special | (lost >= LITTLE), -np.inf, one.of(MEAN)).argmax())


def _gradient(record: Record) -> Mapping[str, object]:
    one = judged()
    best = _first(REMOVAL)
    largest, nats = float(np.abs(one.of(GRADIENT)).max()), float(one.of(REMOVAL)[best])
    return {
        **_token(record),
        "named": _named(GRADIENT),
        "left": _left(_first(GRADIENT)),
        "best": one.words[best],
        "lower": _left(best),
        "largest": largest,
        "nats": nats,
        "sure": one.chance > SURE and largest < nats / 20,
    }


def _removed(record: Record) -> Mapping[str, object]:
    one = judged()
    return {
        **_token(record),
        "after": one.without,
        "drawn": one.at_random,
        "words": _listed(one.removed),
        "others": _listed(one.drawn),
        "further": one.without < one.at_random,
    }


def _verdicts(record: Record) -> Mapping[str, object]:
    one = judged()
    return {
        **_token(record),
        "count": len(METHODS),
        "bad": len(one.failed),
        "names": ", ".join(_(name) for name in one.failed),
        "attends": one.verdict(HEAD) == one.verdict(MEAN) == BETTER,
    }


def _said(record: Record) -> Mapping[str, object]:
    one = judged()
    return {
        **_looked(record),
        "left": _left(_first(HEAD)),
        "bad": len(one.failed),
        "count": len(METHODS),
        "better": one.verdict(HEAD) == BETTER,
    }


def _listed(words: tuple[str, ...]) -> str:
    return ", ".join(f"“{word}”" for word in words)


def _touch(spots: Callable[[], list[Spot]]) -> Touch:
    return Touch("above", lambda _record: spots())


def _weights() -> list[Spot]:
    return strongest(judged().of(HEAD), judged().words)


def _chances() -> list[Spot]:
    one = judged()
    return [
        Spot(word, at == _first(REMOVAL), {"touched": word, "left": _left(at)}, "special" if one.special[at] else "no")
        for at, word in enumerate(one.words)
    ]


LESSON = Lesson(
    "why",
    9,
    (
        Step("why", {"method": HEAD}, facts=_looked, answer=_touch(_weights)),
        Step("why", {"method": REMOVAL}, facts=_hidden, answer=_touch(_chances)),
        Step("why", {"method": MEAN}, facts=_mean, answer=Choice()),
        Step("why", {"method": GRADIENT}, facts=_gradient, answer=Choice()),
        Step(
            "why",
            {"method": REMOVAL},
            facts=_removed,
            focus="focus_why_removal",
            answer=Number(lambda _record: judged().without, within=0.2, percent=True),
        ),
        Step(
            "why",
            {"method": REMOVAL},
            facts=_verdicts,
            focus="why_every",
            answer=Number(lambda _record: float(len(judged().failed))),
        ),
        Step("why", {"method": HEAD}, facts=_said, answer=Choice()),
    ),
)
