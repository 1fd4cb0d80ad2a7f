"""Encoder meets decoder: output rows look at the source, and how these rows are named."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from bartviz.analysis import aligners, alignment, start
from bartviz.features.lessons import facts
from bartviz.features.lessons.answers import Choice, Line, Number, Painted, Spot, Touch, row_of, strongest
from bartviz.features.lessons.heads_found import Place, ahead, at, back
from bartviz.features.lessons.lesson import Lesson, Step, Value, View
from bartviz.language import _
from bartviz.record.record import Record

PAIRS = {"Ich": "I", "Auto": "car", "kaufen": "buy"}  # words whose translations are counted


def _row(record: Record) -> int:
    """The row that predicts the word which the start page tells a newcomer to follow."""
    return start.row_of(record, "cross")


def _meet(record: Record) -> Mapping[str, object]:
    attention = record.attention("cross")
    return {"rows": attention.shape[2], "keys": attention.shape[3], "width": attention.queries.shape[-1]}


def _columns(record: Record) -> Mapping[str, object]:
    weights = facts.weights(record, "cross", *ahead(record))
    column = _column(record)
    row = int(weights[:, column].argmax())
    assert record.output is not None
    return {
        "source": record.source.labels[column],
        "word": record.output.labels[row],
        "weight": float(weights[row, column]),
        "crosses": crosses(record),
    }


def _column(record: Record) -> int:
    """The source token at the other end of the ribbon of that word."""
    return start.row_of(record, "encoder")


def crosses(record: Record) -> bool:
    """Whether the line of a source token and of the row that looks at it most crosses another such line."""
    weights = facts.weights(record, "cross", *ahead(record))
    column = _column(record)
    row = int(weights[:, column].argmax())
    links = alignment.links(weights, "mutual", threshold=alignment.THRESHOLD)
    return any((row - target) * (column - source) < 0 for source, target in links)


def _looking(record: Record) -> list[Spot]:
    """The words of the output, by how much each looks at that token of the source."""
    assert record.output is not None
    return strongest(facts.weights(record, "cross", *ahead(record))[:, _column(record)], record.output.labels)


def _shifted(record: Record) -> Mapping[str, object]:
    assert record.output is not None
    row = _row(record)
    values = facts.looks_at(record, "cross", *back(record), row)
    return {**values, "predicts": record.output.labels[row], "reads": record.attention("cross").query.labels[row]}


def _lacks_back(record: Record) -> str:
    """Why no head can be shown that looks back: none that looks at the translation of the word just read."""
    row = _row(record)
    backward, forward = (facts.weights(record, "cross", *find(record)) for find in (back, ahead))
    best = int(backward[row].argmax())
    looks_back = row > 0 and best == int(forward[row - 1].argmax()) != int(forward[row].argmax())
    special = record.attention("cross").key.special[best]
    return "" if looks_back and not special else _("no head of this text looks back at the word just read")


def _agree(record: Record) -> Mapping[str, object]:
    """How many content words a head aligns, with rows labelled by the token read and by the token predicted."""
    attention = record.attention("cross")
    weights, keys = facts.weights(record, "cross", *back(record)), attention.key.labels
    values: dict[str, object] = {"all": len(PAIRS)}
    for name, tokens in (("reads", attention.query), ("predicts", record.output)):
        assert tokens is not None
        rows = [tokens.labels.index(word) for word in PAIRS]
        best = [keys[int(place)] for place in np.asarray(weights[rows]).argmax(axis=1)]
        values[f"{name}_right"] = sum(one == right for one, right in zip(best, PAIRS.values(), strict=True))
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


def _guessed_row(record: Record) -> int:
    """The row that reads the word which is followed."""
    return min(_row(record) + 1, record.attention("cross").shape[2] - 1)


def _guess(record: Record) -> Line:
    return row_of(record, "cross", back(record), _guessed_row(record))


def _guessed(record: Record) -> Mapping[str, object]:
    row = _guessed_row(record)
    values = facts.looks_at(record, "cross", *back(record), row)
    return {**values, "reads": record.attention("cross").query.labels[row]}


def _in_row(
    find: Callable[[Record], Place], row: Callable[[Record], int] = _row, **view: Value
) -> Callable[[Record], View]:
    """A view of the head that ``find`` names, at a row."""
    return lambda record: {**at(find, kind="cross", **view)(record), "row": row(record)}


def _any(_record: Record) -> str:
    return ""


LESSON = Lesson(
    "cross",
    9,
    (
        Step("heads", _in_row(ahead), facts=_meet, answer=Choice(), own=_any),
        Step("heads", _in_row(ahead, view="lines"), facts=_columns, answer=Touch("row", _looking), own=_any),
        Step("heads", _in_row(back), facts=_shifted, answer=Choice(), own=_lacks_back),
        Step("heads", _in_row(back, reading="reads"), facts=_agree, answer=Number(_right)),
        Step("alignment", facts=_links, answer=Choice()),
        Step("inside", _in_row(ahead), facts=_meet, answer=Choice(), own=_any),
        Step(
            "heads",
            _in_row(back, _guessed_row, reading="reads", view="text"),
            facts=_guessed,
            answer=Painted(_guess),
            own=_any,
        ),
    ),
)
