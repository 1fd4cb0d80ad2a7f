"""What attention is: a word is written while looking back at the words of the source."""

from __future__ import annotations

from collections.abc import Mapping

from bartviz.analysis import start
from bartviz.language import mark
from bartviz.record.record import Record
from bartviz.teaching.lessons import facts
from bartviz.teaching.lessons.lesson import Lesson, Step

ALIGNS = (2, 0)  # the cross head of the ribbons
ROW = 5  # reads "Auto", predicts "kaufen"
PREVIOUS = (2, 4)  # an encoder head that looks one token back
BACK = (1, 4)  # a decoder head
WORD = "kaufen"


def _ribbons(record: Record) -> Mapping[str, object]:
    found = start.ribbons(record)
    layers, heads = record.attention("cross").shape[:2]
    row = facts.predicting(record, WORD)
    return {**facts.looks_at(record, "cross", found.head.layer, found.head.head, row), "heads": layers * heads}


def _row(record: Record) -> Mapping[str, object]:
    line = facts.weights(record, "cross", *ALIGNS)[ROW]  # (K,)
    found = facts.looks_at(record, "cross", *ALIGNS, ROW)
    return {**found, "sum": float(line.sum()), "keys": len(line), "rest": float(1 - line.max())}


def _column(record: Record) -> Mapping[str, object]:
    sums = facts.weights(record, "cross", *ALIGNS).sum(axis=0)  # (K,)
    labels = record.attention("cross").key.labels
    most, least = int(sums.argmax()), int(sums.argmin())
    return {
        "most": labels[most],
        "most_sum": float(sums[most]),
        "least": labels[least],
        "least_sum": float(sums[least]),
    }


def _previous(record: Record) -> Mapping[str, object]:
    line = facts.weights(record, "encoder", *PREVIOUS)  # (Q, K)
    return {**facts.looks_at(record, "encoder", *PREVIOUS, 6), **facts.goes(line, -1)}


def _kaufen(record: Record) -> Mapping[str, object]:
    return facts.chosen(record, WORD)


LESSON = Lesson(
    "attention",
    mark("What attention is"),
    mark("One sentence and its translation: where the model looked while it wrote each word."),
    6,
    (
        Step(
            "start",
            mark(
                "Above, an English sentence; below, what a small BART wrote. A ribbon is attention: while the word "
                "below was written, the model looked back at the word above."
            ),
            mark("Point at “kaufen”. At which English word did the model look most?"),
            mark(
                "At “{key}”, with a weight of {weight:.2f}. In German the verb goes to the end, so its ribbon crosses "
                "the one of the car. This picture is one of {heads} heads of this kind; others look elsewhere."
            ),
            facts=_ribbons,
        ),
        Step(
            "heads",
            mark(
                "The same head as a text. The chosen row is the step that wrote “kaufen”; the stronger a word of the "
                "source is coloured, the more that row looks at it."
            ),
            mark("Every one of the {keys} tokens gets a weight. What do the weights of one row add up to?"),
            mark(
                "To 1, in this row as in every other. Attention is shared out: “{key}” takes {weight:.2f}, so all "
                "others together are left with {rest:.2f}."
            ),
            {"kind": "cross", "layer": ALIGNS[0], "head": ALIGNS[1], "row": ROW, "view": "text"},
            facts=_row,
        ),
        Step(
            "heads",
            mark(
                "The same weights as a map: a row for each token that is written, a column for each token of the "
                "source. The stronger a cell, the larger the weight."
            ),
            mark("Rows sum to 1. Do the columns as well?"),
            mark(
                "No. The column of “{most}” adds up to {most_sum:.2f}, that of “{least}” to {least_sum:.2f}: a token "
                "of the source may be looked at by many or by hardly any. Always read along a row."
            ),
            {"kind": "cross", "layer": ALIGNS[0], "head": ALIGNS[1], "row": ROW},
            facts=_column,
        ),
        Step(
            "heads",
            mark(
                "A text can also look at itself: self-attention. Rows and columns are now the same English tokens, "
                "and this is one head of the encoder. Follow the line of strong cells."
            ),
            mark("Which token does nearly every token look at?"),
            mark(
                "At the one before it: “car” at “{key}” with {weight:.2f}. Of the weight of all rows {share:.0%} goes "
                "one token back; evenly it would be {even:.0%}. Nobody asked this head to do so; it learned it."
            ),
            {"kind": "encoder", "layer": PREVIOUS[0], "head": PREVIOUS[1], "row": 6},
            facts=_previous,
        ),
        Step(
            "heads",
            mark("The third kind: the output looks at itself while it is written. Half of the map is hatched."),
            mark("Why is everything to the right of the diagonal closed?"),
            mark(
                "When a token is written, the later ones do not exist yet, so there is nothing to look at. In "
                "training they do exist, and a mask hides them: otherwise the model could copy the answer."
            ),
            {"kind": "decoder", "layer": BACK[0], "head": BACK[1], "row": 4, "reading": "reads"},
        ),
        Step(
            "decoding",
            mark(
                "What is all the looking for? To choose the next token. This is the step that wrote “kaufen”, with "
                "the source shaded by attention and the candidates as bars."
            ),
            mark("How sure was the model, and what came second?"),
            mark(
                "It gave “{token}” {chance:.0%}; “{other}” came second with {other_chance:.1%}. Attention brought the "
                "right words together. It does not choose: layers and the output matrix behind it do."
            ),
            {"step": 6},
            facts=_kaufen,
        ),
    ),
)
