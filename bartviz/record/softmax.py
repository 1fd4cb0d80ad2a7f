"""Softmax over the keys of a row, where a mask allows. NumPy only."""

from __future__ import annotations

import numpy as np

from bartviz.arrays import Bools, Floats


def masked_softmax(scores: Floats, mask: Bools) -> Floats:
    """softmax over the last axis of ``scores`` (..., Q, K) where ``mask`` (..., Q, K) is True; elsewhere exactly 0.

    A row without any True comes out uniform, as with the large negative numbers that models use. Overwrites ``scores``.
    """
    if not mask.all():
        np.copyto(scores, -np.inf, where=~mask)
        scores[~mask.any(axis=-1)] = 0.0
    return softmax(scores)


def softmax_with_sink(scores: Floats, mask: Bools, sink: Floats) -> Floats:
    """As ``masked_softmax``, with one more score (..., 1, 1) whose weight is left out: rows sum to less than 1, a row
    without any True to 0. Overwrites ``scores``."""
    np.copyto(scores, -np.inf, where=~mask)
    top = np.maximum(scores.max(axis=-1, keepdims=True), sink)
    scores -= top
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True) + np.exp(sink - top)
    return scores


def softmax(scores: Floats) -> Floats:
    """exp(s) / sum of exp(s) over the last axis of ``scores``: rows sum to 1. Overwrites ``scores``."""
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    return scores
