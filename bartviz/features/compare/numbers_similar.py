"""Similarity of heads: all pairs of heads, laid out so that similar heads are close together.

Clark et al. 2019, section 6, lay heads out by the Jensen-Shannon divergence of their rows; here it is the distance, its
square root, as everywhere else (``distance``), so that a pair has one number. Letters in shapes: N heads
of a kind, layer by layer; R rows; K key columns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bartviz.analysis.corpus_measures import measure_of
from bartviz.analysis.measure_inputs import entropy
from bartviz.analysis.measures import Measured, counted
from bartviz.arrays import Bools, Floats
from bartviz.record.attention import Attention
from bartviz.text.tokens import Tokens

ROWS = 32
"""The most rows that are compared, evenly chosen from those that count: there are many pairs of heads."""


@dataclass(frozen=True, eq=False)
class Likeness:
    """The similarity of all heads of a kind.

    ``distances`` (N, N): mean Jensen-Shannon distance over ``rows`` rows, 0 (the same) to 1 (no key in common);
    ``places`` (N, 2) coordinates of the heads in a plane that preserves these distances as well as possible; ``kept``
    the preserved share of their spread, 0..1.
    """

    distances: Floats
    places: Floats
    kept: float
    rows: int
    shape: tuple[int, int]

    def pairs(self, most: int = 12) -> list[tuple[tuple[int, int], tuple[int, int], float]]:
        """The most similar heads, as pairs of (layer, head) with their distance, nearest first."""
        first, second = np.triu_indices(len(self.distances), 1)
        found = self.distances[first, second]
        nearest = np.argsort(found, kind="stable")[:most]
        heads = self.shape[1]
        return [(divmod(int(first[at]), heads), divmod(int(second[at]), heads), float(found[at])) for at in nearest]


def likeness(attention: Attention, *, query: Tokens | None = None) -> Likeness | None:
    """The similarity of all pairs of heads; None if no row counts or there is a single head."""
    rows = _chosen(counted(attention, query))
    layers, heads = attention.shape[:2]
    if not rows.any() or layers * heads < 2:
        return None
    weights = np.concatenate([_rows(attention, layer, rows) for layer in range(layers)])  # (N, R, K)
    distances = between(weights)
    places, kept = arrange(distances**2)
    return Likeness(distances, places, kept, int(rows.sum()), (layers, heads))


def _chosen(rows: Bools) -> Bools:
    """At most ``ROWS`` of the True rows, evenly chosen."""
    places = np.flatnonzero(rows)
    if len(places) > ROWS:
        places = places[np.linspace(0, len(places) - 1, ROWS).round().astype(np.int64)]
    chosen = np.zeros_like(rows)
    chosen[places] = True
    return chosen


def _rows(attention: Attention, layer: int, rows: Bools) -> Floats:
    """(H, R, K) the weights of some rows."""
    places = np.flatnonzero(rows)
    return np.concatenate([attention.row_weights(layer, slice(int(row), int(row) + 1)) for row in places], axis=1)


def between(weights: Floats) -> Floats:
    """(N, N) mean Jensen-Shannon distance of each pair of heads, over their rows (N, R, K)."""
    own = entropy(weights)  # (N, R)
    found = np.zeros((len(weights), len(weights)), np.float32)
    for head in range(len(weights) - 1):
        middle = (weights[head] + weights[head + 1 :]) / 2  # (N - head - 1, R, K)
        divergence = entropy(middle) - (own[head] + own[head + 1 :]) / 2  # (N - head - 1, R), bits
        found[head, head + 1 :] = np.sqrt(np.clip(divergence, 0, 1)).mean(axis=1)
    return np.asarray(found + found.T, np.float32)


def arrange(squares: Floats) -> tuple[Floats, float]:
    """(N, 2) coordinates in a plane from squared distances (N, N), and the preserved share of their spread.

    Classical multidimensional scaling (Torgerson 1952). The axes have no meaning of their own; each is oriented so that
    the farthest head is on its positive side, which keeps pictures stable.
    """
    count = len(squares)
    centre = np.eye(count) - 1 / count
    products = -centre @ squares.astype(np.float64) @ centre / 2  # (N, N)
    values, vectors = np.linalg.eigh(products)
    values, vectors = values[::-1].clip(min=0), vectors[:, ::-1]
    places = vectors[:, :2] * np.sqrt(values[:2])
    places *= np.where(np.take_along_axis(places, np.abs(places).argmax(axis=0)[None], axis=0) < 0, -1, 1)
    total = float(values.sum())
    return places.astype(np.float32), float(values[:2].sum() / total) if total else 1.0


def counterpart(measured: Measured, place: tuple[int, int], among: Measured) -> tuple[int, int]:
    """The head (layer, head) of another run that does most nearly what the head at ``place`` does.

    By the mean difference of all measures between 0 and 1 that both have: the runs may have other tokens and sizes, so
    that their weights cannot be compared cell by cell. The first of equals, and the first head if no measure is shared.
    """
    names = [name for name in measured.defined if name in among.defined and measure_of(name).highest == 1.0]
    own = {name: float(measured.values[name][place]) for name in names}
    apart = [np.abs(among.values[name] - own[name]) for name in names if np.isfinite(own[name])]  # (L, H) each
    if not apart:
        return 0, 0
    stacked = np.stack(apart)  # (measures, L, H)
    known = np.isfinite(stacked)
    mean = np.where(known, stacked, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)  # (L, H)
    mean[~known.any(axis=0)] = np.inf
    layer, head = np.unravel_index(int(mean.argmin()), mean.shape)
    return int(layer), int(head)
