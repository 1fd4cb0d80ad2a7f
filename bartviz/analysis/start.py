"""The ribbons of the start page: which words belong together, as numbers and sentences.

Letters in shapes: T words that look (rows), S words that are looked at (columns). NumPy alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from bartviz.analysis import mutual, sentence_words
from bartviz.analysis.look_ahead import AHEAD, Directions, record_directions
from bartviz.analysis.mutual import Mutual
from bartviz.analysis.words import Word, merge, words
from bartviz.arrays import Bools, Floats
from bartviz.language import _
from bartviz.language.percentages import percent
from bartviz.record.attention import Head, Kind
from bartviz.record.record import Record
from bartviz.record.steps import Step, StepNumbers, bare
from bartviz.record.vocabulary import CHOSEN_BY_YOU, GIVEN_TARGET

if TYPE_CHECKING:
    import pandas as pd

FAINTEST = 0.02
"""Weights below this draw no ribbon; the sentences still count them."""
MOST_WORDS = 48
"""The most words of a line that are drawn."""
LEAST_SAID = 0.01
"""Sentences name no weight below this: it would read as 0.00."""


@dataclass(frozen=True, slots=True)
class Ribbons:
    """Two lines of words and the weights between them.

    ``weights`` (T, S): row t of ``below`` looks at column s of ``above``; summed over the pieces of a column's word,
    averaged over the pieces of a row's word, so rows still sum to 1. ``score``: how much of the weight is on pairs of
    words that choose each other (0..1). One sentence for each word of both lines. ``given``: the words below were not
    the model's own.
    """

    head: Head
    score: float
    above: tuple[Word, ...]
    below: tuple[Word, ...]
    weights: Floats
    say_above: tuple[str, ...]
    say_below: tuple[str, ...]
    given: bool = False

    def edges(self) -> list[tuple[int, int, float]]:
        """(t, s, weight) of every ribbon that is drawn."""
        rows, columns = np.nonzero(self.weights >= FAINTEST)
        return [(int(t), int(s), round(float(self.weights[t, s]), 4)) for t, s in zip(rows, columns, strict=True)]

    def first(self, most: int = MOST_WORDS) -> Ribbons:
        """The same with the first words of both lines alone, for a picture; weights then need not sum to 1.

        Sentences that name a word which is not drawn say so.
        """
        rows, columns = self.weights.argmax(axis=1), self.weights.argmax(axis=0)  # (T,) and (S,): the words named
        return replace(
            self,
            above=self.above[:most],
            below=self.below[:most],
            weights=self.weights[:most, :most],
            say_above=_with_undrawn(self.say_above[:most], columns >= most),
            say_below=_with_undrawn(self.say_below[:most], rows >= most),
        )


def _with_undrawn(sentences: tuple[str, ...], undrawn: Bools) -> tuple[str, ...]:
    more = _("That word comes after those drawn here.")
    return tuple(f"{one} {more}" if far else one for one, far in zip(sentences, undrawn.tolist(), strict=False))


def table(ribbons: Ribbons) -> pd.DataFrame:
    """Every weight as a row: the word that looks, the word that is looked at, and the weight."""
    import pandas as pd

    pairs = [
        (row.text, column.text, float(weight))
        for row, weights in zip(ribbons.below, ribbons.weights, strict=True)
        for column, weight in zip(ribbons.above, weights, strict=True)
    ]
    return pd.DataFrame(pairs, columns=["word that looks", "word looked at", "weight"])


def notice(ribbons: Ribbons) -> str:
    """One sentence on this text: the word whose ribbon crosses most others, else a long word.

    It and the word it looks at choose each other with at least 0.3 of the weight; both are among the first
    ``MOST_WORDS``, which are drawn, and occur there once, so that a reader finds them. Without such a pair the sentence
    says so.
    """
    rows, columns = plain(ribbons.below), plain(ribbons.above)
    weights = ribbons.weights[rows][:, columns]
    if weights.size == 0:
        return _("There are only special tokens here: nothing to align.")
    found = Mutual.of(weights)
    looked, paired = found.chosen, found.mutual & (found.weight >= 0.3)  # (T,) each
    if not paired.any():
        return _("No word of this text looks mostly at one other word: the weight is spread over many.")
    paired &= (np.array(rows) < MOST_WORDS) & (np.array(columns)[looked] < MOST_WORDS)
    if not paired.any():
        return _("None of the words drawn here looks mostly at one other word that is drawn.")
    t_all, s_all = np.flatnonzero(paired), looked[paired]  # (P,) each: the words that choose each other
    crossings = ((t_all[:, None] - t_all) * (s_all[:, None] - s_all) < 0).sum(axis=1)  # (P,)
    below, above = _once(ribbons.below), _once(ribbons.above)
    pairs = [
        (crossed, t, s)
        for crossed, t, s in zip(crossings.tolist(), t_all.tolist(), s_all.tolist(), strict=True)
        if rows[t] in below and columns[s] in above
    ]
    if not pairs:
        return _(
            "The words that look mostly at one other word occur several times: point at one to see where it looks."
        )
    crossed, t, s = max(pairs, key=lambda pair: (pair[0], len(ribbons.below[rows[pair[1]]].text), weights[pair[1:]]))
    pair = {"below": ribbons.below[rows[t]].text, "above": ribbons.above[columns[s]].text, "weight": weights[t, s]}
    if ribbons.head.kind != "cross":
        return _("Follow one ribbon: “{below}” looks mostly at “{above}” ({weight:.2f}).", **pair)
    if ribbons.given:
        return _(
            "Follow one ribbon: at the step of “{below}”, which was given, the model looked mostly at “{above}” "
            "({weight:.2f}).",
            **pair,
        )
    if crossed:
        return _("Ribbons cross where the order of words differs: “{below}” looks at “{above}” ({weight:.2f}).", **pair)
    return _(
        "Follow one ribbon: while “{below}” was written, the model looked mostly at “{above}” ({weight:.2f}).", **pair
    )


def legend(ribbons: Ribbons) -> str:
    """What the two lines are, and what a ribbon between them is."""
    if ribbons.given:
        return _(
            "Above, the text that the model read; below, the output that was given to it, not its own. Ribbons show "
            "where it looked at each word's step."
        )
    if ribbons.head.kind == "cross":
        return _("Above, the text that the model read; below, its output. Ribbons show where it looked for each word.")
    return _("The text that the model read, twice. Ribbons show where each word of the lower line looks.")


def ribbons(record: Record, *, head: Head | None = None) -> Ribbons:
    """The ribbons of one head; without ``head`` of the one that aligns best by ``mutual.score``.

    Cross-attention where the record has it, source above and output below, rows named by the word they predict, so that
    a head that looks back at the word just read is chosen only if there is no other; else self-attention, where the
    diagonal does not count for the score.
    """
    kind: Kind = head.kind if head is not None else "cross" if record.cross is not None else record.kinds[0]
    attention = record.attention(kind)
    columns = words(attention.key, *_texts_of(record, kind, columns=True))
    rows = words(record.rows(kind), *_texts_of(record, kind, columns=False))
    if head is not None:
        merged = _between(attention.head(head.layer, head.head), rows, columns)
        score = _score(merged, rows, columns, kind)
    else:
        head, score, merged = _best(record, kind, rows, columns)
    return Ribbons(
        head,
        score,
        columns,
        rows,
        merged,
        say_above=tuple(_say_column(merged, rows, columns, s) for s in range(len(columns))),
        say_below=tuple(_say_row(record, kind, merged, rows, columns, t) for t in range(len(rows))),
        given=kind == "cross" and record.provenance.mode == GIVEN_TARGET,
    )


def head_of(record: Record, kind: Kind) -> Head:
    """The head of a kind that a reader sees first, on every page: the one that ``ribbons`` draws.

    The words of its rows choose each other most, so its weight is not on special tokens.
    """
    attention = record.attention(kind)
    columns = words(attention.key, *_texts_of(record, kind, columns=True))
    rows = words(record.rows(kind), *_texts_of(record, kind, columns=False))
    return _best(record, kind, rows, columns)[0]


def _texts_of(record: Record, kind: Kind, *, columns: bool) -> tuple[str, ...]:
    """The texts that the spans of one axis point into, one for each segment."""
    written = (record.target_text or "",)
    if kind == "cross":
        return record.texts if columns else written
    return written if kind == "decoder" and not record.reads_own_text else record.texts


def _best(record: Record, kind: Kind, rows: tuple[Word, ...], columns: tuple[Word, ...]) -> tuple[Head, float, Floats]:
    attention = record.attention(kind)
    best: tuple[bool, float, Head, Floats] | None = None
    direction: Directions | None = None
    for layer in range(attention.shape[0]):
        weights = attention.layer(layer)  # (H, Q, K)
        if kind == "cross":
            direction = record_directions(record, weights)
        for index, merged in enumerate(_between(weights, rows, columns)):
            score, head = _score(merged, rows, columns, kind), Head(kind, layer, index)
            ahead = direction is None or bool(direction[index] == AHEAD)
            if best is None or (ahead, score) > best[:2]:
                best = (ahead, score, head, merged)
    assert best is not None  # a stack has at least one layer and head
    return best[2], best[1], best[3]


def _between(weights: Floats, rows: tuple[Word, ...], columns: tuple[Word, ...]) -> Floats:
    """(..., Q, K) weights between tokens -> (..., T, S) between words."""
    groups = [tuple(tuple(range(word.start, word.end)) for word in line) for line in (rows, columns)]
    return merge(weights, *groups)


def _score(weights: Floats, rows: tuple[Word, ...], columns: tuple[Word, ...], kind: Kind) -> float:
    if kind != "cross":
        weights = weights * (1 - np.eye(*weights.shape, dtype=np.float32))
    return mutual.score(weights[plain(rows)][:, plain(columns)])


def plain(line: tuple[Word, ...]) -> list[int]:
    """The indices of the words that are not special tokens."""
    return [i for i, word in enumerate(line) if not word.special]


def _once(line: tuple[Word, ...]) -> set[int]:
    """The indices of the words that are drawn and occur once among those drawn, small and capital letters alike."""
    texts = [word.text.casefold() for word in line[:MOST_WORDS]]
    return {i for i, text in enumerate(texts) if texts.count(text) == 1}


def _quoted(word: Word) -> str:
    return word.text if word.special else f"“{word.text}”"


def _say_row(
    record: Record, kind: Kind, weights: Floats, rows: tuple[Word, ...], columns: tuple[Word, ...], t: int
) -> str:
    word, looks = _quoted(rows[t]), _looks(weights[t], columns)
    steps = [step for step in bare(record.steps) if rows[t].start <= step.row < rows[t].end] if kind == "cross" else []
    if not steps:
        return _("{word} looks mostly at {looks}.", word=word, looks=looks)
    return _chosen(record, steps, word, looks)


def _chosen(record: Record, steps: list[Step | StepNumbers], word: str, looks: str) -> str:
    """One sentence: the probability of a word, the product over its pieces, and where the model looked."""
    rules = [step.rule for step in steps if step.rule is not None]
    if len(rules) == len(steps) and rules[0] == CHOSEN_BY_YOU:
        return _("{word} was chosen by you, looking mostly at {looks}.", word=word, looks=looks)
    if len(rules) == len(steps):
        return _(
            "{word} was not chosen but set by a rule ({rule}), looking mostly at {looks}.",
            word=word,
            rule=sentence_words.rule(rules[0]),
            looks=looks,
        )
    likely = percent(math.exp(sum(step.log_probability for step in steps)))
    if record.provenance.mode == GIVEN_TARGET:
        return _(
            "{word} was given; the model would have chosen it with {likely}, looking mostly at {looks}.",
            word=word,
            likely=likely,
            looks=looks,
        )
    return _("{word} was chosen with {likely}, looking mostly at {looks}.", word=word, likely=likely, looks=looks)


def _looks(row: Floats, columns: tuple[Word, ...]) -> str:
    first = int(row.argmax())
    spoken = plain(columns)
    second = max(spoken, key=lambda s: float(row[s]), default=first)
    if columns[first].special and row[second] >= LEAST_SAID and second != first:
        return _(
            "{special} ({most:.2f}), and among the words at {word} ({weight:.2f})",
            special=_quoted(columns[first]),
            most=row[first],
            word=_quoted(columns[second]),
            weight=row[second],
        )
    return f"{_quoted(columns[first])} ({row[first]:.2f})"


def _say_column(weights: Floats, rows: tuple[Word, ...], columns: tuple[Word, ...], s: int) -> str:
    t = int(weights[:, s].argmax())
    if weights[t, s] < LEAST_SAID:
        return _("No word looks at {above} with a weight of 0.01 or more.", above=_quoted(columns[s]))
    return _(
        "{above} is looked at most by {below} ({weight:.2f}).",
        above=_quoted(columns[s]),
        below=_quoted(rows[t]),
        weight=weights[t, s],
    )
