"""What a pattern knows of the tokens that look and of those that are looked at.

Letters in shapes: Q query rows, K key columns, n tokens of one side, W words of a column or a tree, T and S words of
the output and the source.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bartviz.arrays import Bools
from bartviz.errors import SettingError
from bartviz.record.attention import Kind

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


def written_words(labels: tuple[str, ...], groups: Whole, continues: str) -> tuple[str, ...]:
    """The word of each token, put together from the readable tokens of its group."""
    words: dict[int, str] = {}
    for label, group in zip(labels, groups.tolist(), strict=True):
        words[group] = words.get(group, "") + label.removeprefix(continues)
    return tuple(words[group].casefold() for group in groups.tolist())
