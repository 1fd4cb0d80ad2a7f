"""From one sentence to many: means with intervals, the spread behind them, odd examples, and what a role says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from bartviz.features.lessons import facts
from bartviz.features.lessons.answers import Choice
from bartviz.features.lessons.heads_found import Place, at, neighbours
from bartviz.features.lessons.lesson import Lesson, Step, View
from bartviz.record.record import Record

if TYPE_CHECKING:
    import pandas as pd

BERT, TRANSLATOR = "bert-tiny-en", "bart-tiny-en-de"
ROW = 8  # "because"


def _before(record: Record) -> Place:
    """The head of the lesson on heads that looks at the previous token."""
    return neighbours(record)[0]


def _heads(model: str, kind: str, measure: str) -> pd.DataFrame:
    """The heads of a kind by their mean of a measure over the corpus, the highest first."""
    from bartviz.corpus import shipped  # late: the start page lists the lessons, and needs no tables

    heads = shipped.atlas(model).heads
    return heads[(heads["kind"] == kind) & (heads["measure"] == measure)].sort_values("mean", ascending=False)


def _with_role(model: str, kind: str, measure: str) -> pd.DataFrame:
    from bartviz.corpus import shipped

    roles = shipped.atlas(model).roles
    return roles[(roles["kind"] == kind) & (roles["measure"] == measure)]


def _examples(which: str) -> pd.DataFrame:
    """The sentences where the translator's best aligner does most or least, the most extreme first."""
    from bartviz.corpus import shipped

    layer, head = _best(TRANSLATOR, "cross", "alignment")
    rows = shipped.atlas(TRANSLATOR).examples
    chosen = (rows["kind"] == "cross") & (rows["layer"] == layer) & (rows["head"] == head)
    return rows[chosen & (rows["measure"] == "alignment") & (rows["which"] == which)].sort_values("rank")


def _best(model: str, kind: str, measure: str) -> Place:
    first = _heads(model, kind, measure).iloc[0]
    return int(first["layer"]), int(first["head"])


def _view(model: str, kind: str, measure: str, place: Place) -> View:
    return {"atlas": model, "kind": kind, "by": measure, "layer": place[0], "head": place[1]}


def _one(record: Record) -> Mapping[str, object]:
    layer, head = _before(record)
    shares = facts.goes(facts.weights(record, "encoder", layer, head), -1)
    return {**shares, "name": f"L{layer}H{head}", "does": shares["share"] > 5 * shares["even"]}


def _many(record: Record) -> Mapping[str, object]:
    heads = _heads(BERT, "encoder", "previous")
    layer, head = _before(record)
    own = heads[(heads["layer"] == layer) & (heads["head"] == head)].iloc[0]
    return {
        **_one(record),
        "n": int(own["n"]),
        "mean": float(own["mean"]),
        "low": float(own["low"]),
        "high": float(own["high"]),
        "evenly": float(own["even"]),
        "narrow": bool(own["high"] - own["low"] < 0.02),
        "holds": bool(own["low"] > 5 * own["even"]),
    }


def _others(record: Record) -> Mapping[str, object]:
    heads, named = _heads(BERT, "encoder", "previous"), _with_role(BERT, "encoder", "previous")
    layer, head = _before(record)
    other = heads[(heads["layer"] != layer) | (heads["head"] != head)].iloc[0]
    return {
        "name": f"L{layer}H{head}",
        "other": f"L{other['layer']}H{other['head']}",
        "mean": float(other["mean"]),
        "named": len(named),
        "heads": len(heads),
        "next": float(heads["mean"].iloc[len(named)]),
        "also": float(other["mean"]) > 0.5,
    }


def _spread(_record: Record) -> Mapping[str, object]:
    best = _heads(TRANSLATOR, "cross", "alignment").iloc[0]
    return {
        "name": f"L{best['layer']}H{best['head']}",
        "mean": float(best["mean"]),
        "low": float(best["low"]),
        "high": float(best["high"]),
        "highest": float(_examples("highest")["value"].iloc[0]),
        "lowest": float(_examples("lowest")["value"].iloc[0]),
        "wide": bool(
            _examples("lowest")["value"].iloc[0] < best["low"] < best["high"] < _examples("highest")["value"].iloc[0]
        ),
        "n": int(best["n"]),
    }


def _odd(_record: Record) -> Mapping[str, object]:
    odd = _examples("lowest").iloc[0]
    return {
        "text": odd["text"],
        "target": odd["target"],
        "value": float(odd["value"]),
        "low": float(odd["value"]) < 0.1,
        "mean": float(_heads(TRANSLATOR, "cross", "alignment")["mean"].iloc[0]),
    }


def _rest(_record: Record) -> Mapping[str, object]:
    return {
        "named": len(_with_role(TRANSLATOR, "encoder", "special")),
        "heads": len(_heads(TRANSLATOR, "encoder", "special")),
        "most": float(_heads(TRANSLATOR, "encoder", "special")["mean"].iloc[0]),
    }


def _aligner(_record: Record) -> View:
    return _view(TRANSLATOR, "cross", "alignment", _best(TRANSLATOR, "cross", "alignment"))


LESSON = Lesson(
    "corpus",
    7,
    (
        Step("heads", at(_before, kind="encoder", row=ROW), facts=_one, record="words", answer=Choice()),
        Step(
            "corpus",
            lambda record: _view(BERT, "encoder", "previous", _before(record)),
            facts=_many,
            record="words",
            answer=Choice(),
        ),
        Step(
            "corpus",
            lambda _record: _view(BERT, "encoder", "previous", _best(BERT, "encoder", "previous")),
            facts=_others,
            record="words",
            answer=Choice(),
        ),
        Step("corpus", _aligner, facts=_spread, focus="corpus_values", answer=Choice()),
        Step("corpus", _aligner, facts=_odd, focus="corpus_lowest_1", answer=Choice()),
        Step(
            "corpus",
            lambda _record: _view(TRANSLATOR, "encoder", "special", _best(TRANSLATOR, "encoder", "special")),
            facts=_rest,
            answer=Choice(),
        ),
    ),
)
