"""The same text in two models: the two heads of their encoders that look at it most alike.

Letters in shapes: L layers, H heads, W words, N heads of a model (L times H), C cells.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bartviz.analysis.words import merge, words
from bartviz.arrays import Floats
from bartviz.record.attention import Head
from bartviz.record.record import Record

LONGEST = 256  # words of a text that are compared


@dataclass(frozen=True, slots=True)
class Match:
    """Two heads, one of each model, and the correlation of their weights between words, -1 to 1."""

    first: Head
    second: Head
    correlation: float


def match(first: Record, second: Record, head: Head | None = None) -> Match | None:
    """The heads of two encoders whose weights between different words are most alike, by Pearson's correlation; with
    ``head``, an encoder's head of the first, the one of the second that is most like it.

    What a word gives to itself and to special tokens is left out: it is much alike in most heads. None where the models
    do not read the same words, or where fewer than three words or no differences are left to compare.
    """
    one, other = _words(first), _words(second)
    if one[0] != other[0] or len(one[0]) < 3:
        return None
    a, b = (_standardized(maps) for _texts, maps in (one, other))  # (N, C) each
    if head is not None:
        a = a[[_number(first, head)]]
    correlations = a @ b.T / a.shape[1]  # (N, N), or (1, N)
    if not correlations.any():
        return None
    i, j = np.unravel_index(int(correlations.argmax()), correlations.shape)
    return Match(head or _head(first, int(i)), _head(second, int(j)), float(correlations[i, j]))


def _head(record: Record, number: int) -> Head:
    """The encoder's head of that number, counted layer by layer."""
    return Head("encoder", *divmod(number, record.attention("encoder").shape[1]))


def _number(record: Record, head: Head) -> int:
    """The number of an encoder's head. Raises SettingError for one that is not there."""
    attention = record.attention("encoder")
    attention.check(head.layer, head.head)
    return head.layer * attention.shape[1] + head.head


def _words(record: Record) -> tuple[tuple[str, ...], Floats]:
    """The words of the source in small letters, and the weights between them (L, H, W, W)."""
    attention = record.attention("encoder")
    found = words(attention.query, *record.texts)
    kept = [at for at, word in enumerate(found) if not word.special][:LONGEST]
    groups = tuple(tuple(range(word.start, word.end)) for word in found)
    maps = [merge(attention.layer(layer), groups, groups)[:, kept][:, :, kept] for layer in range(attention.shape[0])]
    return tuple(found[at].text.casefold() for at in kept), np.stack(maps)


def _standardized(maps: Floats) -> Floats:
    """(N, C): the cells off the diagonal of each head, with mean 0 and deviation 1; 0 where they are all the same."""
    size = maps.shape[-1]
    cells = maps.reshape(-1, size, size)[:, ~np.eye(size, dtype=bool)].astype(np.float64)
    cells = cells - cells.mean(axis=1, keepdims=True)
    deviation = cells.std(axis=1, keepdims=True)
    return np.asarray(np.divide(cells, deviation, out=np.zeros_like(cells), where=deviation > 1e-9))
