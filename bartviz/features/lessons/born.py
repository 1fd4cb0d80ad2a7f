"""When does a head find its job? The training that ships: what is written at each moment, and who aligns since when."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bartviz.corpus.shipped_replay import ALIGNS, COPIES, Place, passed, points, replay, shares, translated
from bartviz.features.lessons.answers import Choice, Number
from bartviz.features.lessons.lesson import Lesson, Step
from bartviz.record.record import Record

TEXT = 0  # the number of the example that the page shows first


def _ranked() -> list[Place]:
    """The heads by how much they align at the end, the best first."""
    last = shares(ALIGNS)[-1]
    return [divmod(int(at), last.shape[1]) for at in np.argsort(-last, axis=None, kind="stable")]


def _named(head: Place) -> str:
    return f"L{head[0]}H{head[1]}"


def _random(_record: Record) -> Mapping[str, object]:
    each = shares(ALIGNS)
    return {
        "count": len(replay().steps),
        "heads": each[0].size,
        "most": float(each[0].max()),
        "end": float(each[-1].max()),
        "grows": bool(each[-1].max() > 2 * each[0].max()),
    }


def _word() -> tuple[str, int]:
    """The longest word of the right output that is written at the end, and the moment at which it is written first."""
    one = replay().examples[TEXT]
    words = [word.strip(".,!?") for word in (one.target or "").split()]
    found = max((word for word in words if word in one.written[-1]), key=len)
    return found, next(at for at, text in enumerate(one.written) if found in text)


def _writes(_record: Record) -> Mapping[str, object]:
    one, (word, at) = replay().examples[TEXT], _word()
    return {
        "text": one.text,
        "word": word,
        "step": replay().steps[at],
        "wrote": one.written[at],
        "before": one.written[at - 1],
        "earlier": replay().steps[at - 1],
    }


def _which(_record: Record) -> Mapping[str, object]:
    ranked, last = _ranked(), shares(ALIGNS)[-1]
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
    step, low, high = points(ALIGNS)[best]
    return {
        "best": _named(best),
        "step": round(step),
        "low": round(low),
        "high": round(high),
        "before": max(moment for moment in replay().steps if moment <= step),
        "after": min(moment for moment in replay().steps if moment >= step),
        "last": replay().steps[-1],
        "texts": replay().about["texts"],
        "early": step < replay().steps[-1] / 10,
    }


def _order(_record: Record) -> Mapping[str, object]:
    step, _last = translated()
    aligned, copied = passed(ALIGNS), passed(COPIES)
    return {
        "aligning": len(points(ALIGNS)),
        "aligned": aligned,
        "copied": copied,
        "copies": copied < aligned,
        "translated": step,
        "first": aligned < step,
    }


def _said(record: Record) -> Mapping[str, object]:
    return _when(record)


LESSON = Lesson(
    "born",
    7,
    (
        Step("born", facts=_random, answer=Choice()),
        Step("born", facts=_writes, answer=Number(lambda _record: float(replay().steps[_word()[1]]))),
        Step("born", facts=_which, answer=Choice()),
        Step("born", facts=_when, answer=Number(lambda _record: points(ALIGNS)[_ranked()[0]][0], within=0.1)),
        Step("born", facts=_order, answer=Choice()),
        Step("born", facts=_said, answer=Choice()),
    ),
)
