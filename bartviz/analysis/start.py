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
from bartviz.arrays import Bools, Floats, Ints
from bartviz.language import _
from bartviz.language.percentages import percent
from bartviz.record.attention import Head, Kind
from bartviz.record.record import Record
from bartviz.record.steps import Step, StepNumbers, bare
from bartviz.record.vocabulary import CHOSEN_BY_YOU, GIVEN_TARGET
from bartviz.text.labels import MASKS

if TYPE_CHECKING:
    import pandas as pd

FAINTEST = 0.02
"""Weights below this draw no ribbon; the sentences still count them."""
MOST_WORDS = 48
NEAR = 8  # words of a line that a phone shows at once
"""The most words of a line that are drawn."""
LEAST_SAID = 0.01
"""Sentences name no weight below this: it would read as 0.00."""
LITTLE = 0.1
"""Below this weight a newcomer is told that a word looks at no other in particular."""
CLEARLY = 0.3
"""From this weight on a word singles out another one, and a pair of words is named."""
RESTS = 0.5
"""A head of self-attention that leaves less of its words' weight to words is shown first only where all heads do."""


@dataclass(frozen=True, slots=True)
class Ribbons:
    """Two lines of words and the weights between them.

    ``weights`` (T, S): row t of ``below`` looks at column s of ``above``; summed over the pieces of a column's
    word, averaged over the pieces of a row's word, so rows still sum to 1. ``score``: how much of the weight is on
    pairs of words that choose each other (0..1), in self-attention of words that are not neighbours; of a text with a
    mask, how much of the mask's is on one word. One sentence for each word of both lines. ``given``: the words below
    were not the model's own.
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

    It and the word it looks at are a pair (``pairs``); both are among the first ``MOST_WORDS``, which are drawn, and
    occur there once, so that a reader finds them. Without such a pair the sentence says so. In a text with a mask that
    the model fills, it is about the mask.
    """
    if (mask := mask_of(ribbons)) is not None:
        return _("The mask: {sentence}", sentence=ribbons.say_below[mask])
    if not plain(ribbons.below) or not plain(ribbons.above):
        return _("There are only special tokens here: nothing to align.")
    paired = pairs(ribbons)
    if not paired:
        if (t := _most_apart(ribbons)) is not None:
            s = int(np.where(_apart(ribbons.below, ribbons.above)[t], ribbons.weights[t], 0).argmax())
            return _(
                "Follow one ribbon: “{below}” looks at many words, most at “{above}” ({weight:.2f}).",
                below=ribbons.below[t].text,
                above=ribbons.above[s].text,
                weight=ribbons.weights[t, s],
            )
        return _("No word of this text singles out one other word: the weight is spread over many.")
    drawn = [(t, s) for t, s in paired if t < MOST_WORDS and s < MOST_WORDS]
    if not drawn:
        return _("None of the words drawn here singles out one other word that is drawn.")
    found = _followed(ribbons, drawn)
    if found is None:
        return _("The words that single out one other word occur several times: touch one to see where it looks.")
    t, s, crossed = found
    pair = {"below": ribbons.below[t].text, "above": ribbons.above[s].text, "weight": ribbons.weights[t, s]}
    if ribbons.head.kind != "cross":
        return _("Follow one ribbon: “{below}” looks most at “{above}” ({weight:.2f}).", **pair)
    if ribbons.given:
        return _(
            "Follow one ribbon: at the step of “{below}”, which was given, this head looked most at “{above}” "
            "({weight:.2f}).",
            **pair,
        )
    if crossed:
        return _("Ribbons cross where the order of words differs: “{below}” looks at “{above}” ({weight:.2f}).", **pair)
    return _(
        "Follow one ribbon: while “{below}” was written, this head looked most at “{above}” ({weight:.2f}).", **pair
    )


def pairs(ribbons: Ribbons) -> list[tuple[int, int]]:
    """(t, s) of the words, special tokens aside, that look at one word with at least ``CLEARLY`` of the weight.

    In cross-attention they choose each other; a text that looks at itself has one line of words, so there each word may
    choose any other one.
    """
    rows, columns = plain(ribbons.below), plain(ribbons.above)
    if not rows or not columns:
        return []
    found = Mutual.of(ribbons.weights[rows][:, columns])
    chosen = found.weight >= CLEARLY
    chosen &= (
        found.mutual
        if ribbons.head.kind == "cross"
        else _others(ribbons.below, ribbons.above)[rows, np.array(columns)[found.chosen]]
    )
    return [(rows[t], columns[found.chosen[t]]) for t in np.flatnonzero(chosen).tolist()]


def _followed(ribbons: Ribbons, drawn: list[tuple[int, int]]) -> tuple[int, int, bool] | None:
    """The pair whose ribbon crosses most others, else that of a long word, and whether it crosses any; None if all
    words of these pairs occur more than once. In self-attention, one of words that are not neighbours if there is one.
    """
    t_all, s_all = np.array(drawn).T  # (P,) each
    crossings = ((t_all[:, None] - t_all) * (s_all[:, None] - s_all) < 0).sum(axis=1)  # (P,)
    below, above = _once(ribbons.below), _once(ribbons.above)
    far = _apart(ribbons.below, ribbons.above) if ribbons.head.kind != "cross" else np.ones(ribbons.weights.shape, bool)
    found = [
        (bool(far[t, s]), crossed, len(ribbons.below[t].text), ribbons.weights[t, s], t, s)
        for crossed, (t, s) in zip(crossings.tolist(), drawn, strict=True)
        if t in below and s in above
    ]
    if not found:
        return None
    _far, crossed, _long, _weight, t, s = max(found, key=lambda one: one[:4])
    return t, s, crossed > 0


def to_touch(ribbons: Ribbons) -> int | None:
    """The word of the lower line that a newcomer should look at first: the mask, or that of a pair as ``notice`` has
    one, near the beginning if there is one."""
    if (mask := mask_of(ribbons)) is not None:
        return mask
    for most in (NEAR, MOST_WORDS):
        drawn = [(t, s) for t, s in pairs(ribbons) if t < most and s < most]
        if drawn and (found := _followed(ribbons, drawn)) is not None:
            return found[0]
    return _most_apart(ribbons)


def _most_apart(ribbons: Ribbons) -> int | None:
    """The drawn word of self-attention that looks most at one word which is not next to it: more than at any other
    word, with at least ``LITTLE`` of the weight, and twice as much as at a word on average."""
    rows, columns = [t for t in plain(ribbons.below) if t < MOST_WORDS], plain(ribbons.above)
    if ribbons.head.kind == "cross" or not rows or not columns:
        return None
    weights = ribbons.weights[rows][:, columns]  # (R, S)
    far = np.where(_apart(ribbons.below, ribbons.above)[rows][:, columns], weights, 0).max(axis=1)  # (R,)
    least = np.maximum(np.maximum(weights.max(axis=1), LITTLE), 2 * weights.mean(axis=1))
    found = np.where(far >= least, far, 0)
    return rows[int(found.argmax())] if found.any() else None


def mask_of(ribbons: Ribbons) -> int | None:
    """The first mask of a text that looks at itself, among the words that are drawn; else None."""
    if ribbons.head.kind != "encoder":
        return None
    return next((t for t, word in enumerate(ribbons.below[:MOST_WORDS]) if is_mask(word)), None)


def is_mask(word: Word) -> bool:
    """Whether a word is a mask that the model read as one."""
    return word.special and word.text in MASKS


def glosses(ribbons: Ribbons) -> tuple[str, ...]:
    """For each word of the lower line the word of the upper one that it looks most at, with at least ``CLEARLY`` of
    the weight. Empty where there is none, and in self-attention. It need not mean the same: an auxiliary verb may look
    at the main verb.
    """
    if ribbons.head.kind != "cross" or not ribbons.above:
        return ("",) * len(ribbons.below)
    chosen = ribbons.weights.argmax(axis=1)  # (T,)
    return tuple(
        ribbons.above[s].text if row[s] >= CLEARLY else "" for row, s in zip(ribbons.weights, chosen, strict=True)
    )


def simple(ribbons: Ribbons) -> Ribbons:
    """The same for a newcomer: without special tokens (but a mask stays), and with sentences that name no number."""
    rows, columns = (
        [i for i, word in enumerate(line) if not word.special or is_mask(word)]
        for line in (ribbons.below, ribbons.above)
    )
    weights = ribbons.weights[rows][:, columns]
    below, above = tuple(ribbons.below[t] for t in rows), tuple(ribbons.above[s] for s in columns)
    cross = ribbons.head.kind == "cross"
    return replace(
        ribbons,
        above=above,
        below=below,
        weights=weights,
        say_below=tuple(
            _simple_row(word, row, above, cross, ribbons.given) for word, row in zip(below, weights, strict=True)
        ),
        say_above=tuple(
            _simple_column(word, column, below, cross) for word, column in zip(above, weights.T, strict=True)
        ),
    )


def _simple_row(word: Word, row: Floats, columns: tuple[Word, ...], cross: bool, given: bool) -> str:
    best = int(row.argmax()) if row.size else 0
    if not row.size or row[best] < LITTLE:
        return _("{word} looked at no other word in particular.", word=_quoted(word))
    pair = {"word": _quoted(word), "looks": _quoted(columns[best])}
    if not cross:
        return (
            _("{word} looks at {looks} more than at any other word.", **pair)
            if row[best] >= CLEARLY
            else _("{word} looks at many words, most at {looks}.", **pair)
        )
    if given:
        return _("At the step of {word}, which was given, this head looked most at {looks}.", **pair)
    if row[best] >= CLEARLY:
        return _("Before the model wrote {word}, this head looked at {looks} more than at any other word.", **pair)
    return _("Before the model wrote {word}, this head looked at many words, most at {looks}.", **pair)


def _simple_column(word: Word, column: Floats, rows: tuple[Word, ...], cross: bool) -> str:
    best = int(column.argmax()) if column.size else 0
    if not column.size or column[best] < LITTLE:
        return _("Hardly any word looked at {word}.", word=_quoted(word))
    pair = {"word": _quoted(word), "below": _quoted(rows[best])}
    if not cross:
        return _("{below} looks most at {word}.", **pair)
    return _("This head gave {word} the largest share just before {below}.", **pair)


def legend(ribbons: Ribbons) -> str:
    """A legend for the two lines and the ribbons between them."""
    if ribbons.given:
        return _(
            "The top row is the text that the model read; the bottom row is the output that was given to it, not its "
            "own. Ribbons show where one of its attention heads looked at each word's step."
        )
    if ribbons.head.kind == "cross":
        return _(
            "The top row is the text that the model read; the bottom row is what it wrote. Ribbons show where one "
            "small part of the model, an attention head, looked as each word was written: the wider, the more."
        )
    return _(
        "The text that the model read, twice. Ribbons show where one of its attention heads looks from each word of "
        "the lower line."
    )


def ribbons(record: Record, *, head: Head | None = None) -> Ribbons:
    """The ribbons of one head; without ``head`` of the one that aligns best by ``mutual.score``.

    Cross-attention where the record has it, source above and output below, rows named by the word they predict, so that
    a head that looks back at the word just read is chosen only if there is no other; else self-attention, where only
    words count that are not neighbours, and a head that leaves most of its weight to special tokens is chosen only if
    there is no other. Of a text with a mask, the head of an encoder whose mask looks most at one word.
    """
    kind = head.kind if head is not None else kind_of(record)
    attention = record.attention(kind)
    columns = words(attention.key, *_texts_of(record, kind, columns=True))
    rows = words(record.rows(kind), *_texts_of(record, kind, columns=False))
    if head is not None:
        merged = _between(attention.head(head.layer, head.head), rows, columns)
        score = _score(merged, rows, columns, _counted(rows, columns) if kind != "cross" else None)
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


def kind_of(record: Record) -> Kind:
    """The kind of attention that a reader sees first, on every page."""
    return "cross" if record.cross is not None else record.kinds[0]


def head_of(record: Record, kind: Kind) -> Head:
    """The head of a kind that a reader sees first, on every page: the one that ``ribbons`` draws.

    The words of its rows choose each other most, so its weight is not on special tokens.
    """
    attention = record.attention(kind)
    columns = words(attention.key, *_texts_of(record, kind, columns=True))
    rows = words(record.rows(kind), *_texts_of(record, kind, columns=False))
    return _best(record, kind, rows, columns)[0]


def row_of(record: Record, kind: Kind) -> int:
    """The row of tokens of a kind that a reader sees first, on every page: that of the word which a newcomer is asked
    to touch (``to_touch``), else of the first word. The rows of an encoder are words of the source: there it is the
    word that a word of the output looks at.
    """
    found = ribbons(record)
    spoken = plain(found.below)
    t = to_touch(found)
    t = (spoken or [0])[0] if t is None else t
    if found.head.kind != "cross" or kind != "encoder":
        return found.below[t].start
    columns = plain(found.above)
    return found.above[columns[int(found.weights[t, columns].argmax())] if columns else 0].start


def _texts_of(record: Record, kind: Kind, *, columns: bool) -> tuple[str, ...]:
    """The texts that the spans of one axis point into, one for each segment."""
    written = (record.target_text or "",)
    if kind == "cross":
        return record.texts if columns else written
    return written if kind == "decoder" and not record.reads_own_text else record.texts


def _best(record: Record, kind: Kind, rows: tuple[Word, ...], columns: tuple[Word, ...]) -> tuple[Head, float, Floats]:
    attention = record.attention(kind)
    best: tuple[int, float, Head, Floats] | None = None
    direction: Directions | None = None
    mask = next((t for t, word in enumerate(rows) if is_mask(word)), None) if kind == "encoder" else None
    counted = _counted(rows, columns) if kind != "cross" else None
    for layer in range(attention.shape[0]):
        weights = attention.layer(layer)  # (H, Q, K)
        if kind == "cross":
            direction = record_directions(record, weights)
        for index, merged in enumerate(_between(weights, rows, columns)):
            head = Head(kind, layer, index)
            score = _score(merged, rows, columns, counted) if mask is None else _looks_from(mask, merged, columns)
            if direction is not None:
                first = int(direction[index] == AHEAD)
            else:  # a clear look of the mask counts most
                first = 2 * (mask is not None and score >= CLEARLY) + (_to_words(merged, rows, columns) >= RESTS)
            if best is None or (first, score) > best[:2]:
                best = (first, score, head, merged)
    assert best is not None  # a stack has at least one layer and head
    return best[2], best[1], best[3]


def _looks_from(mask: int, weights: Floats, columns: tuple[Word, ...]) -> float:
    """How much the row of a mask looks at the one word that it looks at most.

    If there are any, only words count that occur once, which articles seldom do, are not next to the mask, and have
    letters or digits.
    """
    apart, once = _apart(columns, columns)[mask], _once(columns)
    spoken = [s for s in plain(columns) if apart[s] and s in once] or plain(columns)
    return float(weights[mask, spoken].max()) if spoken else 0.0


def _to_words(weights: Floats, rows: tuple[Word, ...], columns: tuple[Word, ...]) -> float:
    """The share of the words' weight that is on words, and not on special tokens."""
    shares = weights[plain(rows)][:, plain(columns)].sum(axis=1)
    return float(shares.mean()) if shares.size else 0.0


def _between(weights: Floats, rows: tuple[Word, ...], columns: tuple[Word, ...]) -> Floats:
    """(..., Q, K) weights between tokens -> (..., T, S) between words."""
    groups = [tuple(tuple(range(word.start, word.end)) for word in line) for line in (rows, columns)]
    return merge(weights, *groups)


def _score(weights: Floats, rows: tuple[Word, ...], columns: tuple[Word, ...], counted: Bools | None) -> float:
    if counted is not None:
        weights = weights * counted
    return mutual.score(weights[plain(rows)][:, plain(columns)])


def _counted(rows: tuple[Word, ...], columns: tuple[Word, ...]) -> Bools:
    """(T, S) the pairs of words of self-attention that say most about a head: apart if there are any, else not the
    same."""
    apart = _apart(rows, columns)
    return apart if apart[plain(rows)][:, plain(columns)].any() else _others(rows, columns)


def _apart(rows: tuple[Word, ...], columns: tuple[Word, ...]) -> Bools:
    """(T, S) whether a column of self-attention is a word with letters or digits, and not next to what the row reads:
    that many heads look at the word before or at the full stop says little about the text."""
    spoken = np.array([any(letter.isalnum() for letter in word.text) for word in columns], dtype=bool)  # (S,)
    found: Bools = (_distance(rows, columns) > 1) & spoken
    return found


def _others(rows: tuple[Word, ...], columns: tuple[Word, ...]) -> Bools:
    """(T, S) whether a column of self-attention is another word than what the row reads."""
    found: Bools = _distance(rows, columns) > 0
    return found


def _distance(rows: tuple[Word, ...], columns: tuple[Word, ...]) -> Ints:
    """(T, S) how many words a column is away from the words that the row's tokens are at. Rows may be named by what
    they predict; what they read is at their own positions."""
    starts = np.array([word.start for word in columns])  # (S,)
    first, last = (
        np.searchsorted(starts, ends, "right")[:, None] - 1
        for ends in ([word.start for word in rows], [word.end - 1 for word in rows])
    )
    column = np.arange(len(columns))
    away: Ints = np.maximum(np.maximum(first - column, column - last), 0)  # (T, S)
    return away


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
        return _("{word} looks most at {looks}.", word=word, looks=looks)
    return _chosen(record, steps, word, looks)


def _chosen(record: Record, steps: list[Step | StepNumbers], word: str, looks: str) -> str:
    """One sentence: the probability of a word, the product over its pieces, and where the model looked."""
    rules = [step.rule for step in steps if step.rule is not None]
    if len(rules) == len(steps) and rules[0] == CHOSEN_BY_YOU:
        return _("{word} was chosen by you, looking most at {looks}.", word=word, looks=looks)
    if len(rules) == len(steps):
        return _(
            "{word} was not chosen but set by a rule ({rule}), looking most at {looks}.",
            word=word,
            rule=sentence_words.rule(rules[0]),
            looks=looks,
        )
    likely = percent(math.exp(sum(step.log_probability for step in steps)))
    if record.provenance.mode == GIVEN_TARGET:
        return _(
            "{word} was given; the model would have chosen it with {likely}, looking most at {looks}.",
            word=word,
            likely=likely,
            looks=looks,
        )
    return _("{word} was chosen with {likely}, looking most at {looks}.", word=word, likely=likely, looks=looks)


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
