"""Which words of rows and columns are the same, which are punctuation, and which choose each other.

Letters in shapes: L layers, H heads, Q query rows, K key columns, n tokens.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bartviz.analysis.look_ahead import BACK, Ways, looks
from bartviz.analysis.start import alignment_score
from bartviz.analysis.words import merge_words, word_groups, word_labels
from bartviz.arrays import Bools, Floats
from bartviz.record.attention import Attention, Kind
from bartviz.record.record import Record
from bartviz.text.tokens import Tokens

Texts = Sequence[str]
"""The texts that spans of tokens index into, one for each segment."""
Way = Callable[[Floats], Ways | None]
"""Returns which way a head with these weights (Q, K) looks."""


def texts_of(record: Record, kind: Kind) -> tuple[Texts, Texts]:
    """The texts of the rows and of the columns of one kind; empty for a decoder-only model, whose pieces are
    complete."""
    if record.reads_own_text:
        return (), ()
    written = () if record.target_text is None else (record.target_text,)
    return written if kind != "encoder" else record.texts, written if kind == "decoder" else record.texts


def groups(tokens: Tokens) -> NDArray[np.int64]:
    """(n,) the number of the word that each token is a piece of."""
    found = np.empty(len(tokens), np.int64)
    for number, group in enumerate(word_groups(tokens)):
        found[list(group)] = number
    return found


def codes(
    query: Tokens, key: Tokens, query_text: Texts = (), key_text: Texts = ()
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A number for each token, equal if the words are equal without regard to case; -1 for special tokens and
    punctuation.

    With the texts, two unknown words are equal only if they are spelled alike.
    """
    known: dict[str, int] = {}
    return numbered(query, query_text, known), numbered(key, key_text, known)


def numbered(tokens: Tokens, text: Texts, known: dict[str, int]) -> NDArray[np.int64]:
    """(n,) the number of each token's word, as in ``codes``. ``known`` has the words so far, and grows."""
    numbers = np.full(len(tokens), -1, np.int64)
    for label, group in zip(word_labels(tokens, text), word_groups(tokens), strict=True):
        word = label.strip().casefold()
        if not tokens.special[group[0]] and any(sign.isalnum() for sign in word):
            numbers[list(group)] = known.setdefault(word, len(known))
    return numbers


def punctuation(tokens: Tokens, text: Texts = ()) -> Bools:
    """(n,) True for tokens that are only punctuation, judged by their text if given, else by their label."""
    found = [_only_signs(_written(tokens, i, text) or tokens.labels[i]) for i in range(len(tokens))]
    return np.array(found, np.bool_) & ~tokens.special


def _written(tokens: Tokens, place: int, text: Texts) -> str:
    span, segment = tokens.spans[place], int(tokens.segments[place])
    return text[segment][slice(*span)] if span is not None and segment < len(text) else ""


def _only_signs(label: str) -> bool:
    signs = label.strip()
    return bool(signs) and all(unicodedata.category(sign).startswith("P") for sign in signs)


@dataclass(frozen=True, eq=False)
class Aligned:
    """How well the words of rows and columns choose each other: ``scores`` (L, H), NaN without words, over ``words``
    words of the rows; ``ways`` (L, H) as in ``measures.Measured``."""

    scores: Floats
    words: int
    ways: Ways | None


def alignment(attention: Attention, seen: Bools, predicts: Tokens | None, way: Way | None = None) -> Aligned:
    """The weight of each head of cross-attention on pairs of words that choose each other.

    ``predicts`` labels the rows by what they predict: a word's rows are those that predict it or, for a head that looks
    back, those that have just read it; ``way`` returns which, by default ``look_ahead.looks``. Without ``predicts`` a
    word's rows are those that read it. Rows not in ``seen`` (Q,) are left out, with their words.
    """
    scores, ways = np.full(attention.shape[:2], np.nan, np.float32), np.zeros(attention.shape[:2], np.int8)
    columns, known = _words(attention.key), predicts is not None
    reads = attention.query, _rows(attention.query, seen)
    named = reads if predicts is None else (predicts, _rows(predicts, seen))
    if not named[1] or not columns:
        return Aligned(scores, 0, None)
    for layer, head in np.ndindex(scores.shape):
        weights = attention.head(layer, head)  # (Q, K)
        found = way(weights) if way is not None else looks(weights, predicts, attention.key)
        known = known and found is not None
        ways[layer, head] = 0 if found is None else found
        tokens, rows = reads if ways[layer, head] == BACK and reads[1] else named
        merged = merge_words(weights, tokens, attention.key).weights
        scores[layer, head] = alignment_score(np.asarray(merged[np.ix_(rows, columns)], np.float32))
    return Aligned(scores, len(named[1]), ways if known else None)


def _words(tokens: Tokens) -> list[int]:
    """The indices of the groups that are words, not special tokens or white space."""
    return [
        number
        for number, group in enumerate(word_groups(tokens))
        if not tokens.special[group[0]] and tokens.words[group[0]] is not None
    ]


def _rows(tokens: Tokens, seen: Bools) -> list[int]:
    """The indices of the words all of whose rows count."""
    grouped = word_groups(tokens)
    return [number for number in _words(tokens) if seen[list(grouped[number])].all()]
