"""Encoder meets decoder: output rows look at the source, and how these rows are named."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from bartviz.analysis import aligners, alignment, start
from bartviz.features.lessons import facts
from bartviz.features.lessons.answers import Choice, Line, Number, Painted, Spot, Touch, row_of, strongest
from bartviz.features.lessons.heads_found import Place, ahead, at, back, listed, once
from bartviz.features.lessons.lesson import Lesson, Step, Value, View, any_record
from bartviz.language import _
from bartviz.record.record import Record

COUNTED = 3  # words whose translations are counted


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


def shifted(record: Record) -> Mapping[str, object]:
    """What the row looks at in the head that aligns with the word just read, and both words that can name it."""
    assert record.output is not None
    row = _row(record)
    values = facts.looks_at(record, "cross", *back(record), row)
    return {**values, "predicts": record.output.labels[row], "reads": record.attention("cross").query.labels[row]}


def lacks_back(record: Record) -> str:
    """Why no head can be shown that looks back: none that looks at the translation of the word just read."""
    row = _row(record)
    backward, forward = (facts.weights(record, "cross", *find(record)) for find in (back, ahead))
    best = int(backward[row].argmax())
    looks_back = row > 0 and best == int(forward[row - 1].argmax()) != int(forward[row].argmax())
    special = record.attention("cross").key.special[best]
    return "" if looks_back and not special else _("no head of this text looks back at the word just read")


@once
def translations(record: Record) -> dict[int, int]:
    """The last words of the output that are one token, and each of which is linked with a word of the source: the row
    that predicts it, and its column. They are linked by the head that looks at the word to come."""
    attention, found = record.attention("cross"), start.ribbons(record)
    links = alignment.links(facts.weights(record, "cross", *ahead(record)), "mutual", threshold=alignment.THRESHOLD)
    words = {word.start for word in found.below if len(word.pieces) == 1 and not word.special and word.text.isalpha()}
    last = len(attention.query) - 1  # no row reads what the last one predicts
    pairs = {row: column for column, row in links if row in words and row < last}
    return {row: pairs[row] for row in sorted(pairs)[-COUNTED:]}


def _agree(record: Record) -> dict[str, Any]:
    """How many of these words a head aligns, with rows labelled by the token read and by the token predicted."""
    assert record.output is not None
    pairs, weights = translations(record), facts.weights(record, "cross", *back(record))
    right = {by: sum(int(weights[row + by].argmax()) == column for row, column in pairs.items()) for by in (0, 1)}
    names = [f"“{record.output.labels[row]}”" for row in pairs]
    return {
        "all": len(pairs),
        "words": listed(names) if names else "",
        "predicts_right": right[0],
        "reads_right": right[1],  # what a row predicts is read by the next
        **shifted(record),
    }


def _lacks_agreement(record: Record) -> str:
    """Why the two names of the rows cannot be compared: too few words, or neither name fits better."""
    found = _agree(record)
    if found["all"] < COUNTED:
        return _("too few of its words are linked with one word of the source")
    better = found["reads_right"] > found["predicts_right"]
    return "" if better else _("no head of this text looks back at the word just read")


def _right(record: Record) -> float:
    return float(_agree(record)["reads_right"])


def _linked(record: Record) -> tuple[alignment.Table, list[tuple[int, int]]]:
    """The table of the head that aligns best, and its links of words, (target, source), by target."""
    ranked = aligners.best(aligners.aligners(record), "predicts")
    shown = alignment.table(record, ranked.heads, reading="predicts")
    links = alignment.links(shown.weights, "mutual", threshold=alignment.THRESHOLD)
    return shown, sorted((target, source) for source, target in links)


def _crossed(links: Sequence[tuple[int, int]], link: tuple[int, int]) -> list[tuple[int, int]]:
    """The links that one link crosses."""
    return [one for one in links if (one[0] - link[0]) * (one[1] - link[1]) < 0]


def _links(record: Record) -> dict[str, Any]:
    shown, links = _linked(record)
    named = {(target, source): f"“{shown.target.labels[target]}”" for target, source in links}
    pairs = {one: f"{name} – “{shown.source.labels[one[1]]}”" for one, name in named.items()}
    most = max(links, key=lambda link: len(_crossed(links, link)), default=None)
    crossed = [] if most is None else _crossed(links, most)
    aside = next((pair for pair in pairwise(links) if pair[0][1] < pair[1][1]), None)
    return {
        "count": len(links),
        "crosses": bool(crossed),
        "word": "" if most is None else named[most],
        "pair": "" if most is None else pairs[most],
        "others": listed([named[one] for one in crossed]) if crossed else "",
        "other_pairs": listed([pairs[one] for one in crossed]) if crossed else "",
        "aside": aside is not None,
        "left": "" if aside is None else named[aside[0]],
        "right": "" if aside is None else named[aside[1]],
    }


def _lacks_crossing(record: Record) -> str:
    """Why crossing links cannot be asked about: none cross, or all that are neighbours do."""
    found = _links(record)
    return "" if found["crosses"] and found["aside"] else _("no link of its words crosses another")


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


LESSON = Lesson(
    "cross",
    9,
    (
        Step("heads", _in_row(ahead), facts=_meet, answer=Choice(), own=any_record),
        Step("heads", _in_row(ahead, view="lines"), facts=_columns, answer=Touch("row", _looking), own=any_record),
        Step("heads", _in_row(back), facts=shifted, answer=Choice(), own=lacks_back),
        Step("heads", _in_row(back, reading="reads"), facts=_agree, answer=Number(_right), own=_lacks_agreement),
        Step("alignment", facts=_links, answer=Choice(), own=_lacks_crossing),
        Step("inside", _in_row(ahead), facts=_meet, answer=Choice(), own=any_record),
        Step(
            "heads",
            _in_row(back, _guessed_row, reading="reads", view="text"),
            facts=_guessed,
            answer=Painted(_guess),
            own=any_record,
        ),
    ),
)
