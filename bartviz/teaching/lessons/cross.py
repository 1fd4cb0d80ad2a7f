"""Encoder meets decoder: rows of the output look at the source, and which word a row stands for."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bartviz.analysis import aligners, alignment
from bartviz.language import mark
from bartviz.record.record import Record
from bartviz.teaching.lessons import facts
from bartviz.teaching.lessons.lesson import Lesson, Step

ALIGNS, SHIFTED = (2, 0), (1, 4)  # one head looks at what comes next, the other at what has just been read
ROW = 5  # reads "Auto", predicts "kaufen"


def _meet(record: Record) -> Mapping[str, object]:
    attention = record.attention("cross")
    return {"rows": attention.shape[2], "keys": attention.shape[3], "width": attention.q.shape[-1]}


def _columns(record: Record) -> Mapping[str, object]:
    weights = facts.weights(record, "cross", *ALIGNS)
    column = record.attention("cross").key.labels.index("buy")
    row = int(weights[:, column].argmax())
    assert record.output is not None
    return {"source": "buy", "word": record.output.labels[row], "weight": float(weights[row, column])}


def _shifted(record: Record) -> Mapping[str, object]:
    assert record.output is not None
    found = facts.looks_at(record, "cross", *SHIFTED, ROW)
    return {**found, "predicts": record.output.labels[ROW], "reads": record.attention("cross").query.labels[ROW]}


def _agree(record: Record) -> Mapping[str, object]:
    """How many of the content words a head finds, by what rows read and by what they predict."""
    pairs = {"Ich": "I", "Auto": "car", "kaufen": "buy"}
    attention = record.attention("cross")
    weights, keys = facts.weights(record, "cross", *SHIFTED), attention.key.labels
    found: dict[str, object] = {"all": len(pairs)}
    for name, tokens in (("reads", attention.query), ("predicts", record.output)):
        assert tokens is not None
        rows = [tokens.labels.index(word) for word in pairs]
        best = [keys[int(place)] for place in np.asarray(weights[rows]).argmax(axis=1)]
        found[f"{name}_right"] = sum(one == right for one, right in zip(best, pairs.values(), strict=True))
    return {**found, **_shifted(record)}


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
    found = {name.lower(): words[name] for name in ("ein", "Auto", "kaufen")}
    return {**found, "crossings": crossings, "count": len(links), "name": ranked.name}


LESSON = Lesson(
    "cross",
    mark("Encoder meets decoder"),
    mark("How the German being written looks at the English, and which word a row of the map stands for."),
    8,
    (
        Step(
            "heads",
            mark(
                "Cross-attention, the place where the two halves of the model meet. The rows are the German tokens, "
                "the columns the English ones; the map is not square."
            ),
            mark("Which of the two texts asks the questions (queries), and which one is asked (keys)?"),
            mark(
                "The German asks: {rows} rows, each with a query from the decoder. The English is asked: {keys} "
                "columns, whose keys and values the encoder has made once. A row may look at all of them."
            ),
            {"kind": "cross", "layer": ALIGNS[0], "head": ALIGNS[1], "row": ROW},
            facts=_meet,
        ),
        Step(
            "heads",
            mark(
                "The same weights as lines: German on the left, English on the right. A line is the thicker the "
                "larger its weight."
            ),
            mark("Find “{source}” on the right. Which German word looks at it most?"),
            mark(
                "“{word}”, with {weight:.2f}. In English the verb stands before the car, in German behind it: where "
                "lines cross, the order of words differs. Nobody gave the model a dictionary of word pairs."
            ),
            {"kind": "cross", "layer": ALIGNS[0], "head": ALIGNS[1], "row": ROW, "view": "lines"},
            facts=_columns,
        ),
        Step(
            "heads",
            mark(
                "Another head, and something is odd: rows are named by the word that they predict. The chosen row "
                "predicts “{predicts}”."
            ),
            mark("This row looks at “{key}” ({weight:.2f}). Has the head made a mistake?"),
            mark(
                "No. The row predicts “{predicts}”, but what it has just read is “{reads}”, and that is the “{key}”. "
                "This head looks back at the word it has read, so its picture seems shifted by one row."
            ),
            {"kind": "cross", "layer": SHIFTED[0], "head": SHIFTED[1], "row": ROW},
            facts=_shifted,
        ),
        Step(
            "heads",
            mark(
                "The same head, the same numbers. Only the names of the rows have changed: they are now the words "
                "that the rows read."
            ),
            mark("How many of “Ich”, “Auto” and “kaufen” now look at their own translation?"),
            mark(
                "{reads_right} of {all}; by the words that rows predict it was {predicts_right}. Both names are true, "
                "but only one of them makes this head an alignment. Always ask which name a map uses."
            ),
            {"kind": "cross", "layer": SHIFTED[0], "head": SHIFTED[1], "row": ROW, "reading": "reads"},
            facts=_agree,
        ),
        Step(
            "alignment",
            mark(
                "From weights to links: a pair of words is linked where each looks at the other most. The page has "
                "tried all heads and shows the one that does this best."
            ),
            mark("Which links cross each other?"),
            mark(
                "“kaufen” – “{kaufen}” crosses two others: “ein” – “{ein}” and “Auto” – “{auto}”. {count} pairs are "
                "linked here. One sentence proves little: for a judgement one needs sentences that people have "
                "aligned by hand."
            ),
            facts=_links,
        ),
        Step(
            "inside",
            mark(
                "The meeting as arithmetic. The query is that of a German token, the keys and values are those of the "
                "English ones."
            ),
            mark("How can a German token be multiplied with an English one?"),
            mark(
                "They are not words any more but vectors of the same length, {width} numbers in each head. The "
                "matrices that make queries and keys have learned to bring translations close to each other."
            ),
            {"kind": "cross", "layer": ALIGNS[0], "head": ALIGNS[1], "row": ROW},
            facts=_meet,
        ),
    ),
)
