"""The words that choose each other, for NumPy and torch alike.

Letters in shapes: B texts, H heads, Q query rows, T and S words of rows and of columns. ``...``: any axes before these.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from array_api_compat import array_namespace, device

from bartviz.analysis.measure_inputs import mean
from bartviz.arrays import Array


@dataclass(frozen=True, eq=False)
class Mutual:
    """For the word of each row: ``chosen`` (..., T) the column that it looks at most, of equals the first, with what
    ``weight``, and whether the column's word looks at the row most, too (``mutual``). ``words`` (...,) of the rows."""

    chosen: Array
    weight: Array
    mutual: Array
    words: Array

    @classmethod
    def of(cls, weights: Array, rows: Array | None = None, columns: Array | None = None) -> Mutual:
        """From weights (..., T, S) between words: all of them, or some rows (..., T) and columns (..., S)."""
        xp = array_namespace(weights)
        where = {"dtype": xp.bool, "device": device(weights)}
        rows = xp.ones(weights.shape[:-1], **where) if rows is None else rows
        columns = xp.ones((*weights.shape[:-2], weights.shape[-1]), **where) if columns is None else columns
        weights = xp.where(rows[..., :, None] & columns[..., None, :], weights, -1.0)
        chosen = xp.argmax(weights, axis=-1)  # (..., T)
        weight = xp.take_along_axis(weights, chosen[..., None], axis=-1)[..., 0]
        back = xp.take_along_axis(xp.argmax(weights, axis=-2), chosen, axis=-1)
        mutual = (back == xp.arange(weights.shape[-2], device=device(weights))) & (weight > 0)
        return cls(chosen, weight, mutual, xp.sum(rows, axis=-1) * xp.any(columns, axis=-1))

    @property
    def score(self) -> Array:
        """(...,) the weight on words that choose each other by the number of the rows' words, NaN without words: 1 is
        a one-to-one alignment."""
        xp = array_namespace(self.weight)
        return mean(xp.sum(xp.where(self.mutual, self.weight, 0.0), axis=-1), self.words)


def score(weights: Array, rows: Array | None = None) -> float:
    """``Mutual.score`` of weights (T, S) between words, all of them or those of some ``rows`` (T,); 0 without words."""
    if 0 in weights.shape or (rows is not None and not rows.any()):
        return 0.0
    return float(Mutual.of(weights, rows).score)


@dataclass(frozen=True, eq=False)
class OnWords:
    """Where heads of cross-attention look: ``weights`` (B, H, Q, S) of the rows on the words of the columns.

    ``columns`` (B, S): which words there are. ``predicts`` and ``reads`` (B, T, Q): 1 for the rows that predict a word
    of the output, and for those that have just read it. ``back`` (B, H): heads whose rows are named by what they have
    read.
    """

    weights: Array
    columns: Array
    predicts: Array
    reads: Array
    back: Array

    def _named(self, rows: Array) -> Mutual:
        xp = array_namespace(self.weights)
        size = xp.sum(rows, axis=-1)  # (B, T)
        merged = (rows / xp.where(size > 0, size, 1.0)[..., None])[:, None] @ self.weights  # (B, H, T, S)
        return Mutual.of(merged, (size > 0)[:, None], self.columns[:, None])

    @cached_property
    def predicted(self) -> Mutual:
        """The words that choose each other if rows are named by the word that they predict."""
        return self._named(self.predicts)

    @cached_property
    def read(self) -> Mutual:
        """The same by the word that they have just read."""
        return self._named(self.reads)


def one_to_one(words: OnWords) -> Array:
    """(B, H) how much of the weight is on words that choose each other."""
    xp, found = array_namespace(words.weights), words.predicted.score
    if not xp.any(words.back):
        return found
    return xp.where(words.back & (words.read.words > 0), words.read.score, found)
