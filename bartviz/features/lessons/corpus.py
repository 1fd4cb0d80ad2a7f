"""From one sentence to many: means with intervals, the spread behind them, odd examples, and what a role says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bartviz.features.lessons import facts
from bartviz.features.lessons.answers import Choice
from bartviz.features.lessons.heads import lacks_previous
from bartviz.features.lessons.heads_found import Place, at, neighbours, row_to
from bartviz.features.lessons.lesson import Lesson, Step, View, any_record
from bartviz.language import _
from bartviz.record.record import Record

if TYPE_CHECKING:
    import pandas as pd

TRANSLATOR = "bart-tiny-en-de"


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


def _row(record: Record) -> int:
    return row_to(record, _before(record), -1)


def _one(record: Record) -> Mapping[str, Any]:
    layer, head = _before(record)
    shares = facts.goes(facts.weights(record, "encoder", layer, head), -1)
    return {**shares, "name": f"L{layer}H{head}", "does": shares["share"] > 5 * shares["even"]}


def _many(record: Record) -> Mapping[str, Any]:
    heads = _heads(record.model.name, "encoder", "previous")
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


def _others(record: Record) -> Mapping[str, Any]:
    model = record.model.name
    heads, named = (read(model, "encoder", "previous") for read in (_heads, _with_role))
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


def _lacks_atlas(record: Record) -> str:
    """Why its model cannot be asked about: no atlas of it is part of the app."""
    from bartviz.corpus import shipped

    return "" if record.model.name in shipped.NAMES else _("its model was not measured over the sentences")


def _lacks_job(record: Record) -> str:
    return "" if _one(record)["does"] else lacks_previous(record) or _("no head looks clearly at the previous token")


def _lacks_mean(record: Record) -> str:
    wide = _("the interval of its head is wider than its point")
    return _lacks_job(record) or _lacks_atlas(record) or ("" if _many(record)["narrow"] else wide)


def _lacks_others(record: Record) -> str:
    alone = _("no second head of its model does the same")
    return _lacks_job(record) or _lacks_atlas(record) or ("" if _others(record)["also"] else alone)


def _aligner(_record: Record) -> View:
    return _view(TRANSLATOR, "cross", "alignment", _best(TRANSLATOR, "cross", "alignment"))


def _most_previous(record: Record) -> View:
    name = record.model.name
    return _view(name, "encoder", "previous", _best(name, "encoder", "previous"))


LESSON = Lesson(
    "corpus",
    7,
    (
        Step(
            "heads",
            lambda record: {**at(_before, kind="encoder")(record), "row": _row(record)},
            facts=_one,
            record="words",
            answer=Choice(),
            own=_lacks_job,
        ),
        Step(
            "corpus",
            lambda record: _view(record.model.name, "encoder", "previous", _before(record)),
            facts=_many,
            record="words",
            answer=Choice(),
            own=_lacks_mean,
        ),
        Step("corpus", _most_previous, facts=_others, record="words", answer=Choice(), own=_lacks_others),
        Step("corpus", _aligner, facts=_spread, focus="corpus_values", answer=Choice(), own=any_record),
        Step("corpus", _aligner, facts=_odd, focus="corpus_lowest_1", answer=Choice(), own=any_record),
        Step(
            "corpus",
            lambda _record: _view(TRANSLATOR, "encoder", "special", _best(TRANSLATOR, "encoder", "special")),
            facts=_rest,
            answer=Choice(),
            own=any_record,
        ),
    ),
)
