"""Weights between tokens -> weights between words.

Attention to a word is attention to any of its pieces, so columns are summed; attention from a word is the mean over its
pieces, so rows are averaged (Clark et al. 2019, section 4.1). Letters in shapes: Q query tokens, K key tokens, R query
words, C key words; a special token, padding, or white space without a word is a "word" of its own. NumPy alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from bartviz.errors import RecordError
from bartviz.language import later
from bartviz.text.labels import CONTINUES, visible
from bartviz.text.tokens import Direction, Tokens, direction

Groups = tuple[tuple[int, ...], ...]
Texts = str | Sequence[str]
Weight = TypeVar("Weight", bound=np.floating)
_SPACE = "␣"


@dataclass(frozen=True)
class Merged:
    """Weights (..., R, C) between words; ``query_groups[r]`` are the tokens of row r, ``key_groups[c]`` of column c."""

    weights: NDArray[np.floating]
    query_labels: tuple[str, ...]
    key_labels: tuple[str, ...]
    query_groups: Groups
    key_groups: Groups


@dataclass(frozen=True, slots=True)
class Word:
    """The tokens ``start`` to ``end`` (excluded) that make one word, or one special token.

    ``pieces`` are its labels side by side, without those that only continue a character.
    """

    text: str
    pieces: tuple[str, ...]
    special: bool
    start: int
    end: int


def direction_of(line: Iterable[Word]) -> Direction:
    """In which direction a line of words is read, special tokens aside."""
    return direction(word.text for word in line if not word.special)


def words(tokens: Tokens, *texts: str) -> tuple[Word, ...]:
    """The words of the tokens, in order. ``texts`` are what the spans index into, one for each segment."""
    return tuple(
        Word(label.strip(), _pieces(tokens, group), bool(tokens.special[group[0]]), group[0], group[-1] + 1)
        for group, label in zip(word_groups(tokens), word_labels(tokens, texts), strict=True)
    )


def word_groups(tokens: Tokens) -> Groups:
    """The tokens of each word, in order: every token is in exactly one group."""
    starts = [i for i, joined in enumerate(tokens.joined) if not joined]
    return tuple(tuple(range(start, end)) for start, end in pairwise([*starts, len(tokens)]))


def word_numbers(tokens: Tokens) -> NDArray[np.int64]:
    """(n,) the number of the word that each token belongs to, from 0; -1 for special tokens and what is in no word."""
    numbers, count = np.full(len(tokens), -1, np.int64), 0
    for group in word_groups(tokens):
        if tokens.words[group[0]] is not None and not tokens.special[group[0]]:
            numbers[list(group)] = count
            count += 1
    return numbers


def pieces_of(tokens: Tokens) -> dict[int, str]:
    """The word of each token that is a piece of one, not counting signs around it: ``{1: "kaufen", 2: "kaufen"}``."""
    found: dict[int, str] = {}
    for group in word_groups(tokens):
        labels = {token: tokens.labels[token].removeprefix(CONTINUES) for token in group}
        lettered = [token for token in group if any(sign.isalnum() for sign in labels[token])]
        if len(lettered) > 1:
            word = "".join(labels[token] for token in range(lettered[0], lettered[-1] + 1))
            found |= dict.fromkeys(lettered, word)
    return found


def word_labels(tokens: Tokens, text: Texts | None = None) -> tuple[str, ...]:
    """One label for each of ``word_groups``.

    With ``text`` (one for each segment), words are as written, with capitals and unknown words. Without it, or for a
    word without spans, the labels of its pieces are joined.
    """
    texts = () if text is None else (text,) if isinstance(text, str) else tuple(text)
    return tuple(_written(tokens, group, texts) or _joined(tokens, group) for group in word_groups(tokens))


def merge_words(weights: NDArray[np.floating], query: Tokens, key: Tokens) -> Merged:
    """Weights (..., Q, K) between tokens as weights (..., R, C) between words: the sum over a word's columns, the mean
    over its rows. Rows that sum to 1 still do, and the dtype is the same. Raises RecordError if shapes do not fit."""
    if weights.ndim < 2 or weights.shape[-2:] != (len(query), len(key)):
        raise RecordError(
            later(
                "The weights have shape {shape}, but there are {queries} query and {keys} key tokens.",
                shape=weights.shape,
                queries=len(query),
                keys=len(key),
            )
        )
    rows, columns = word_groups(query), word_groups(key)
    return Merged(merge(weights, rows, columns), word_labels(query), word_labels(key), rows, columns)


def merge(weights: NDArray[Weight], rows: Groups, columns: Groups) -> NDArray[Weight]:
    """(..., Q, K) -> (..., R, C): the sum over the columns of each group, the mean over its rows."""
    merged = _summed(_summed(weights, columns, axis=-1), rows, axis=-2)  # (..., R, C)
    return (merged / np.array([len(group) for group in rows], dtype=weights.dtype)[:, None]).astype(weights.dtype)


def _summed(weights: NDArray[Weight], groups: Groups, axis: int) -> NDArray[Weight]:
    if not groups:
        return weights
    summed: NDArray[Weight] = np.add.reduceat(weights, [group[0] for group in groups], axis=axis)
    return summed


def _written(tokens: Tokens, group: Sequence[int], texts: Sequence[str]) -> str:
    """The word as written in its text; empty if its span is unknown."""
    spans = [span for span in (tokens.spans[i] for i in group) if span is not None]
    segment = int(tokens.segments[group[0]])
    if tokens.words[group[0]] is None or not spans or segment >= len(texts):
        return ""
    return visible(texts[segment][min(start for start, _ in spans) : max(end for _, end in spans)].strip())


def _joined(tokens: Tokens, group: Sequence[int]) -> str:
    """The labels of a word's pieces, joined."""
    pieces = _pieces(tokens, group)
    return "".join(pieces[1:] if len(pieces) > 1 and pieces[0] == _SPACE else pieces)


def _pieces(tokens: Tokens, group: Sequence[int]) -> tuple[str, ...]:
    """The labels of a word's tokens without continuation marks."""
    first, *rest = (tokens.labels[i] for i in group)
    return first, *(label.removeprefix(CONTINUES) for label in rest if label != CONTINUES)
