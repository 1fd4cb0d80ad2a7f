"""When does a head find its job? The training that ships: what is written at each moment, and who aligns since when."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median

import numpy as np

from bartviz.arrays import Floats
from bartviz.corpus.replay import SHIPPED, Replay, open_replay
from bartviz.features.lessons.answers import Choice, Number
from bartviz.features.lessons.lesson import Lesson, Step
from bartviz.record.record import Record
from bartviz.serving.read_once import read_once

ALIGNS, COPIES = "alignment", "same"  # measures of the cross-attention
TEXT = 0  # the number of the example that the page shows first


@read_once
def shipped() -> Replay:
    """The training that ships, read once per process."""
    return open_replay(SHIPPED)


def _shares(measure: str) -> Floats:
    """(T, L, H) the mean of each head of the cross-attention, moment by moment."""
    place = shipped().about["kinds"]["cross"]["measures"].index(measure)
    found: Floats = (shipped().curves["cross"][..., place, 0] / 255).astype(np.float32)
    return found


def _points(measure: str) -> dict[tuple[int, int], tuple[float, float, float]]:
    """By head: the step at which it passes half of its way, and the interval."""
    return {
        (layer, head): (step, low, high)
        for kind, layer, head, of, step, low, high in shipped().about["points"]
        if kind == "cross" and of == measure
    }


def _ranked() -> list[tuple[int, int]]:
    """The heads by how much they align at the end, the best first."""
    last = _shares(ALIGNS)[-1]
    return [divmod(int(at), last.shape[1]) for at in np.argsort(-last, axis=None, kind="stable")]


def _named(head: tuple[int, int]) -> str:
    return f"L{head[0]}H{head[1]}"


def _random(_record: Record) -> Mapping[str, object]:
    shares = _shares(ALIGNS)
    return {
        "count": len(shipped().steps),
        "heads": shares[0].size,
        "most": float(shares[0].max()),
        "end": float(shares[-1].max()),
        "grows": bool(shares[-1].max() > 2 * shares[0].max()),
    }


def _word() -> tuple[str, int]:
    """The longest word of the right output that is written at the end, and the moment at which it is written first."""
    one = shipped().examples[TEXT]
    words = [word.strip(".,!?") for word in (one.target or "").split()]
    found = max((word for word in words if word in one.written[-1]), key=len)
    return found, next(at for at, text in enumerate(one.written) if found in text)


def _writes(_record: Record) -> Mapping[str, object]:
    one, (word, at) = shipped().examples[TEXT], _word()
    return {
        "text": one.text,
        "word": word,
        "step": shipped().steps[at],
        "wrote": one.written[at],
        "before": one.written[at - 1],
        "earlier": shipped().steps[at - 1],
    }


def _which(_record: Record) -> Mapping[str, object]:
    ranked, last = _ranked(), _shares(ALIGNS)[-1]
    best, next_best, worst = ranked[0], ranked[1], ranked[-1]
    return {
        "best": _named(best),
        "share": float(last[best]),
        "other": _named(next_best),
        "other_share": float(last[next_best]),
        "worst": _named(worst),
        "worst_share": float(last[worst]),
        "heads": last.size,
    }


def _when(_record: Record) -> Mapping[str, object]:
    best = _ranked()[0]
    step, low, high = _points(ALIGNS)[best]
    return {
        "best": _named(best),
        "step": round(step),
        "low": round(low),
        "high": round(high),
        "last": shipped().steps[-1],
        "texts": shipped().about["texts"],
        "early": step < shipped().steps[-1] / 10,
    }


def _order(_record: Record) -> Mapping[str, object]:
    curve = shipped().about["curves"]["BLEU"]
    end = curve[-1][1]
    translated = next(int(step) for step, value in curve if value >= end / 2)
    aligned, copied = (round(median(step for step, *_ in _points(of).values())) for of in (ALIGNS, COPIES))
    return {
        "aligning": len(_points(ALIGNS)),
        "aligned": aligned,
        "copied": copied,
        "copies": copied < aligned,
        "translated": translated,
        "end": end,
        "first": aligned < translated,
    }


def _said(record: Record) -> Mapping[str, object]:
    return _when(record)


LESSON = Lesson(
    "born",
    7,
    (
        Step("born", facts=_random, answer=Choice()),
        Step("born", facts=_writes, answer=Number(lambda _record: float(shipped().steps[_word()[1]]))),
        Step("born", facts=_which, answer=Choice()),
        Step("born", facts=_when, answer=Number(lambda _record: _points(ALIGNS)[_ranked()[0]][0], within=0.1)),
        Step("born", facts=_order, answer=Choice()),
        Step("born", facts=_said, answer=Choice()),
    ),
)
