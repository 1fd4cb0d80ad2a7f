"""What a pattern knows of the tokens that look and of those that are looked at.

Letters in shapes: Q query rows, K key columns, n tokens of one side, W words of a column or a tree, T and S words of
the output and the source.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bartviz.analysis import word_matches
from bartviz.analysis.gold_alignment import Gold
from bartviz.analysis.words import word_groups, word_labels
from bartviz.arrays import Bools
from bartviz.errors import SettingError
from bartviz.record.attention import Kind
from bartviz.record.record import Record
from bartviz.text.tokens import Tokens

Whole = NDArray[np.int64]


class Unfit(SettingError):
    """A pattern has no meaning for a kind of attention; the text is the reason."""


@dataclass(frozen=True, eq=False)
class Column:
    """A value for each of W words, and the tokens (W, n) that each word is made of."""

    values: tuple[str, ...]
    members: Bools


@dataclass(frozen=True, eq=False)
class Tree:
    """The places of the heads of W words (W,), -1 for a root, the relation of each, and its tokens (W, n)."""

    heads: Whole
    relations: tuple[str, ...]
    members: Bools


@dataclass(frozen=True, eq=False)
class Side:
    """The n tokens of one text.

    ``ids`` (n,) in the vocabulary; ``special`` and ``punctuation`` (n,); ``groups`` (n,) number the words, special
    tokens included, ``words`` those that are words alone (-1 for others); ``codes`` (n,) are equal for equal words of
    both sides, -1 for none. ``labels``: the readable tokens, and ``written`` their words, where a pattern reads them.
    ``columns`` and ``tree``: of the corpus; ``annotated``: whether this side can have any.
    """

    ids: Whole
    special: Bools
    punctuation: Bools
    groups: Whole
    words: Whole
    codes: Whole
    labels: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    columns: Mapping[str, Column] = field(default_factory=dict)
    tree: Tree | None = None
    annotated: bool = True

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, eq=False)
class Pair:
    """The tokens of the rows and of the columns of one kind of attention.

    In cross-attention a row stands for the token that it predicts, in ``query``, or for the one that it has just read,
    in ``reads``; elsewhere all three are the same. ``mask`` (Q, K): what a row may look at. ``links`` (T, S): which
    words an alignment by hand joins, None without one.
    """

    kind: Kind
    query: Side
    key: Side
    reads: Side
    mask: Bools
    links: Bools | None = None

    @property
    def crossing(self) -> bool:
        """Whether rows and columns are two texts."""
        return self.kind == "cross"


def of_record(record: Record, kind: Kind, gold: Gold | None = None) -> Pair:
    """The rows and columns of a record's attention, and the links of an alignment by hand.

    Raises SettingError for a kind that the record does not have.
    """
    attention = record.attention(kind)
    query_text, key_text = word_matches.texts_of(record, kind)
    known: dict[str, int] = {}
    named = _side(record.rows(kind), query_text, known)
    reads = _side(attention.query, query_text, known) if kind == "cross" else named
    key = _side(attention.key, key_text, known) if kind == "cross" else named
    links = None if gold is None or kind != "cross" else links_of(gold, named, key)
    return Pair(kind, named, key, reads, np.asarray(attention.mask, np.bool_), links)


def links_of(gold: Gold, target: Side, source: Side) -> Bools:
    """(T, S) which words of the output and the source an alignment joins, surely or possibly."""
    found = np.zeros((int(target.words.max(initial=-1)) + 1, int(source.words.max(initial=-1)) + 1), np.bool_)
    for at_source, at_target in gold.possible:
        if at_target < len(found) and at_source < found.shape[1]:
            found[at_target, at_source] = True
    return found


def written_words(labels: tuple[str, ...], groups: Whole, continues: str) -> tuple[str, ...]:
    """The word of each token, put together from the readable tokens of its group."""
    words: dict[int, str] = {}
    for label, group in zip(labels, groups.tolist(), strict=True):
        words[group] = words.get(group, "") + label.removeprefix(continues)
    return tuple(words[group].casefold() for group in groups.tolist())


def _side(tokens: Tokens, texts: word_matches.Texts, known: dict[str, int]) -> Side:
    numbers, count = np.full(len(tokens), -1, np.int64), 0
    written = [""] * len(tokens)
    for group, label in zip(word_groups(tokens), word_labels(tokens, texts), strict=True):
        for token in group:
            written[token] = label.strip().casefold()
        if tokens.words[group[0]] is not None and not tokens.special[group[0]]:
            numbers[list(group)] = count
            count += 1
    return Side(
        ids=tokens.ids,
        special=tokens.special,
        punctuation=word_matches.punctuation(tokens, texts),
        groups=word_matches.groups(tokens),
        words=numbers,
        codes=word_matches.numbered(tokens, texts, known),
        labels=tokens.labels,
        written=tuple(written),
        annotated=False,
    )
