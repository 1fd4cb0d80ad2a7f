"""Encoder meets decoder: output rows look at the source, and how these rows are named."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bartviz.analysis import aligners, alignment
from bartviz.features.lessons import facts
from bartviz.features.lessons.answers import Choice, Number, Spot, Touch, strongest
from bartviz.features.lessons.heads_found import ahead, at, back
from bartviz.features.lessons.lesson import Lesson, Step
from bartviz.record.record import Record

ROW = 5  # reads "Auto", predicts "kaufen"


def _meet(record: Record) -> Mapping[str, object]:
    attention = record.attention("cross")
    return {"rows": attention.shape[2], "keys": attention.shape[3], "width": attention.queries.shape[-1]}


def _columns(record: Record) -> Mapping[str, object]:
    weights = facts.weights(record, "cross", *ahead(record))
    column = record.attention("cross").key.labels.index("buy")
    row = int(weights[:, column].argmax())
    assert record.output is not None
    return {
        "source": "buy",
        "word": record.output.labels[row],
        "weight": float(weights[row, column]),
        "crosses": crosses(record),
    }


def crosses(record: Record) -> bool:
    """Whether the lines of the verb and of the object cross."""
    weights, rows = facts.weights(record, "cross", *ahead(record)), ("Auto", "kaufen")
    first, second = (facts.predicting(record, word) for word in rows)
    return bool((first < second) != (weights[first].argmax() < weights[second].argmax()))


def _looking(record: Record) -> list[Spot]:
    """The German words, by how much each looks at the verb of the source."""
    assert record.output is not None
    column = record.attention("cross").key.labels.index("buy")
    return strongest(facts.weights(record, "cross", *ahead(record))[:, column], record.output.labels)


def _shifted(record: Record) -> Mapping[str, object]:
    assert record.output is not None
    values = facts.looks_at(record, "cross", *back(record), ROW)
    return {**values, "predicts": record.output.labels[ROW], "reads": record.attention("cross").query.labels[ROW]}


def _agree(record: Record) -> Mapping[str, object]:
    """How many content words a head aligns, with rows labelled by the token read and by the token predicted."""
    pairs = {"Ich": "I", "Auto": "car", "kaufen": "buy"}
    attention = record.attention("cross")
    weights, keys = facts.weights(record, "cross", *back(record)), attention.key.labels
    values: dict[str, object] = {"all": len(pairs)}
    for name, tokens in (("reads", attention.query), ("predicts", record.output)):
        assert tokens is not None
        rows = [tokens.labels.index(word) for word in pairs]
        best = [keys[int(place)] for place in np.asarray(weights[rows]).argmax(axis=1)]
        values[f"{name}_right"] = sum(one == right for one, right in zip(best, pairs.values(), strict=True))
    return {**values, **_shifted(record)}


def _right(record: Record) -> float:
    found = _agree(record)["reads_right"]
    assert isinstance(found, int)
    return float(found)


def _links(record: Record) -> Mapping[str, object]:
    ranked = aligners.best(aligners.aligners(record), "predicts")
    shown = alignment.table(record, ranked.heads, reading="predicts")
    links = alignment.links(shown.weights, "mutual", threshold=alignment.THRESHOLD)
    words = {shown.target.labels[target]: shown.source.labels[source] for source, target in links}
    crossings = sorted(
        (shown.target.labels[earlier], shown.target.labels[later])  # the earlier in German is the later in English
        for source, earlier in links
        for other, later in links
        if earlier < later and source > other
    )
    values = {name.lower(): words[name] for name in ("ein", "Auto", "kaufen")}
    with_verb = {frozenset(pair) for pair in crossings} == {frozenset({"kaufen", one}) for one in ("ein", "Auto")}
    return {**values, "crossings": crossings, "count": len(links), "name": ranked.name, "with_verb": with_verb}


LESSON = Lesson(
    "cross",
    8,
    (
        Step("heads", at(ahead, kind="cross", row=ROW), facts=_meet, answer=Choice()),
        Step("heads", at(ahead, kind="cross", row=ROW, view="lines"), facts=_columns, answer=Touch("row", _looking)),
        Step("heads", at(back, kind="cross", row=ROW), facts=_shifted, answer=Choice()),
        Step("heads", at(back, kind="cross", row=ROW, reading="reads"), facts=_agree, answer=Number(_right)),
        Step("alignment", facts=_links, answer=Choice()),
        Step("inside", at(ahead, kind="cross", row=ROW), facts=_meet, answer=Choice()),
    ),
)
