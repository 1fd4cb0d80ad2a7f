"""Which words of rows and columns are the same, which are punctuation, and which choose each other.

Letters in shapes: L layers, H heads, Q query rows, K key columns, n tokens.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from bartviz.analysis.look_ahead import BACK, Directions, head_directions
from bartviz.analysis.mutual import OnWords
from bartviz.analysis.words import word_groups, word_labels
from bartviz.arrays import Bools, Floats
from bartviz.record.attention import Attention, Kind
from bartviz.record.record import Record
from bartviz.text.tokens import Tokens

HELD = 1 << 22  # weights at a time: 16 MB
Texts = Sequence[str]
"""The texts that spans of tokens index into, one for each segment."""


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
        if not tokens.special[group[0]] and any(char.isalnum() for char in word):
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
    chars = label.strip()
    return bool(chars) and all(unicodedata.category(char).startswith("P") for char in chars)


def on_words(
    attention: Attention, seen: Bools, predicts: Tokens | None, *, ended: bool = True
) -> Iterator[tuple[int, slice, OnWords, Directions | None]]:
    """For the layers of cross-attention, some heads at a time: what they look at, and in which direction (1, h), as in
    ``look_ahead.looks``. Nothing where rows or columns have no word.

    ``predicts`` labels the rows by what they predict: a word's rows are those that predict it or, for a head that looks
    back, those that have just read it. Without ``predicts`` a word's rows are those that read it. Rows not in ``seen``
    (Q,) are left out, with their words.
    """
    columns = _members(attention.key, np.ones(len(attention.key), np.bool_))
    read = _members(attention.query, seen)
    named = read if predicts is None else _members(predicts, seen)
    if not len(named) or not len(columns):
        return
    there = np.ones((1, len(columns)), np.bool_)
    layers, count, queries, keys = attention.shape
    step = max(1, HELD // (queries * keys))
    for layer in range(layers):
        for first in range(0, count, step):
            heads = slice(first, min(first + step, count))
            weights = np.stack([attention.head(layer, head) for head in range(heads.start, heads.stop)])[None]
            directions = head_directions(weights, predicts, attention.key, ended=ended)
            back = np.zeros(weights.shape[:2], np.bool_) if directions is None else directions == BACK
            yield layer, heads, OnWords(weights @ columns.T, there, named[None], read[None], back), directions


def _members(tokens: Tokens, seen: Bools) -> Floats:
    """(T, n) 1 where a token belongs to a word. A word is no special token or white space, and all of it is seen."""
    words = [
        group
        for group in word_groups(tokens)
        if not tokens.special[group[0]] and tokens.words[group[0]] is not None and seen[list(group)].all()
    ]
    found = np.zeros((len(words), len(tokens)), np.float32)
    for number, group in enumerate(words):
        found[number, list(group)] = 1
    return found
