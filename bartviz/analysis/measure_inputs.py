"""Inputs of the measures of a head, for NumPy and torch alike: a record, or a batch of a corpus.

Letters in shapes: B texts, H heads, Q query rows, K key columns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from array_api_compat import array_namespace, device

from bartviz.arrays import Array
from bartviz.patterns.pair import Pair

_TINY = 1e-30


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of B texts, for all rows or some of them: which row looks at which column.

    ``pair``: the tokens of rows and columns. ``seen`` (B, Q): rows that see a key and are not padding; ``counts``
    (B, Q): those of them that are not special tokens and see at least two keys; ``rows``: which rows these are.
    """

    pair: Pair
    seen: Array
    counts: Array
    rows: slice

    @cached_property
    def mask(self) -> Array:
        """(B, Q, K) what a row may see."""
        return self.pair.mask[..., self.rows, :]

    @cached_property
    def offset(self) -> Array:
        """(Q, K) how many tokens a column is after the row."""
        return self.pair.key.places - self.pair.query.places[self.rows, None]

    @cached_property
    def visible(self) -> Array:
        """(B, Q) how many columns a row may see."""
        xp = array_namespace(self.mask)
        return xp.sum(self.mask, axis=-1, dtype=xp.int64)


@dataclass(eq=False)
class Weights:
    """The weights (B, H, Q, K) of some heads in these cells.

    ``scores`` (B, H, Q, K): what the softmax was taken of, their logarithms up to a constant in each row; without them
    the logarithms are computed. ``lengths`` (B, heads, Q) of what each head of the layer adds to its output, these
    heads first; None if the record has no values.
    """

    cells: Cells
    weights: Array
    scores: Array | None = None
    lengths: Array | None = None

    @cached_property
    def largest(self) -> Array:
        """(B, H, Q)."""
        return largest(self.weights)

    @cached_property
    def entropy(self) -> Array:
        """(B, H, Q) bits. Overwrites the scores."""
        return entropy(self.weights, self.scores, self.largest)

    @cached_property
    def possible(self) -> Array:
        """(B, 1, Q) bits of an even row; 1 where a row sees a single key."""
        xp, seen = array_namespace(self.weights), self.cells.visible
        return xp.log2(xp.astype(xp.where(seen > 2, seen, 2), self.weights.dtype))[:, None]


@dataclass(frozen=True, eq=False)
class Received:
    """Attention received by the columns of B texts from all rows together: ``weights`` (B, H, K), the ``keys`` (B, K)
    that some row may see, and how many ``rows`` (B,) gave.
    """

    weights: Array
    keys: Array
    rows: Array


def entropy(weights: Array, scores: Array | None = None, top: Array | None = None) -> Array:
    """(...,) bits of each row of weights (..., K); 0 log 0 is 0.

    A logarithm of each weight costs more than the softmax, so with the scores s, which are overwritten, none is taken:
    with z the sum of their exponentials, -Σ a log a = log z - Σ a s, and the largest weight ``top`` is exp(max s) / z.
    """
    xp = array_namespace(weights)
    if scores is None:
        shift, scores = 0.0, xp.log(xp.where(weights > _TINY, weights, _TINY))
    else:
        shift = largest(scores) - xp.log(largest(weights) if top is None else top)
    scores *= weights
    nats = shift - scores @ xp.ones(scores.shape[-1], dtype=scores.dtype, device=device(scores))
    return xp.where(nats > 0, nats, 0.0) / math.log(2)


def largest(numbers: Array) -> Array:
    """(...,) the largest of each row (..., K): what ``max`` returns, in half its time for few columns."""
    xp = array_namespace(numbers)
    while 1 < (columns := numbers.shape[-1]) < 128:
        half = (columns + 1) // 2
        numbers = xp.maximum(numbers[..., :half], numbers[..., columns - half :])
    return xp.max(numbers, axis=-1)


def mean(total: Array, number: Array) -> Array:
    """The total by the number, NaN where that is 0."""
    xp = array_namespace(total)
    return xp.where(number > 0, total / xp.astype(xp.where(number > 0, number, 1), total.dtype), xp.nan)
