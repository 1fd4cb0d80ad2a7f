"""What a pattern knows of the tokens that look and of those that are looked at.

Arrays of NumPy, or tensors of torch where a batch is measured: there all shapes have a B in front, the texts of the
batch, and nothing is known of labels, columns and trees. Letters in shapes: Q query rows, K key columns, n tokens of
one side, W words of a column or a tree, T and S words of the output and the source.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from array_api_compat import array_namespace, device
from numpy.typing import NDArray

from bartviz.arrays import Array, Bools
from bartviz.errors import SettingError
from bartviz.record.attention import Kind

Whole = NDArray[np.int64]


ALL = slice(None)


class Unfit(SettingError):
    """A pattern has no meaning for a kind of attention; the text is the reason."""


class Stays(Unfit):
    """A path does not leave the text of the rows, and the columns are another one."""


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
    ``columns`` and ``tree``: of the corpus; ``annotated``: whether this side can have any. ``length``: the number of
    tokens without padding, (B,) in a batch; None where there is no padding.
    """

    ids: Array
    special: Array
    punctuation: Array
    groups: Array
    words: Array
    codes: Array
    labels: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    columns: Mapping[str, Column] = field(default_factory=dict)
    tree: Tree | None = None
    annotated: bool = True
    length: Array | None = None

    def __len__(self) -> int:
        return int(self.ids.shape[-1])

    @cached_property
    def places(self) -> Array:
        """(n,) the places of the tokens, from 0."""
        return array_namespace(self.ids).arange(len(self), device=device(self.ids))

    def batch(self, length: Array) -> Side:
        """The tokens as those of a batch of one text, with its length (1,)."""
        names = ("ids", "special", "punctuation", "groups", "words", "codes")
        return replace(self, **{name: getattr(self, name)[None] for name in names}, length=length)

    @property
    def end(self) -> Array:
        """(B, 1) the number of tokens without padding; the number alone for a single text."""
        return len(self) if self.length is None else self.length[..., None]


@dataclass(frozen=True, eq=False)
class Pair:
    """The tokens of the rows and of the columns of one kind of attention.

    In cross-attention a row stands for the token that it predicts, in ``query``, or for the one that it has just read,
    in ``reads``; elsewhere all three are one object. ``mask`` (Q, K): what a row may look at. ``links`` (T, S): which
    words an alignment by hand joins, None without one.
    """

    kind: Kind
    query: Side
    key: Side
    reads: Side
    mask: Array
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
