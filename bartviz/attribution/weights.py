"""Attribution read from a record: the weights of attention, and the norms of weighted values.

Letters in shapes: L layers, H heads, T steps, Q query rows, K key columns, S source tokens.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bartviz.analysis import contributions, head_measures, start
from bartviz.arrays import Floats
from bartviz.attribution.question import Parts, Question
from bartviz.record.attention import Attention


def mean_attention(question: Question) -> Parts:
    """The mean weights of all heads and layers: of cross-attention for the source, of the decoder's own for earlier
    outputs."""
    record = question.record
    return _both(question, lambda kind: _mean_of_layers(record.attention(kind), _mean_of_heads))


def best_head(question: Question) -> Parts:
    """The weights of the head that the start page shows, whose words choose each other most; they say nothing of
    earlier outputs."""
    head = start.head_of(question.record, question.kind)
    return Parts(question.record.attention(question.kind).head(head.layer, head.head)[question.rows])


def value_norms(question: Question) -> Parts:
    """The length of what each token adds to the row through a layer's heads, as a share; the mean over layers
    (Kobayashi et al. 2020, equation 3, with the heads of a layer summed)."""
    record = question.valued
    return _both(question, lambda kind: _mean_of_layers(record.attention(kind), _norms))


def shares(rows: Floats) -> Floats:
    """Rows of lengths (T, K) by their sums; a row of zeros says nothing and becomes even."""
    return np.asarray(head_measures.shares(rows.T).T)


def _both(question: Question, rows_of: Callable[[str], Floats]) -> Parts:
    source = rows_of(question.kind)[question.rows]
    return Parts(source, rows_of("decoder")[question.rows] if question.record.cross is not None else None)


def _mean_of_layers(attention: Attention, measure: Callable[[Attention, int], Floats]) -> Floats:
    layers = attention.shape[0]
    total = measure(attention, 0)
    for layer in range(1, layers):
        total = total + measure(attention, layer)
    return total / np.float32(layers)


def _mean_of_heads(attention: Attention, layer: int) -> Floats:
    mean: Floats = attention.layer(layer).mean(axis=0)
    return mean


def _norms(attention: Attention, layer: int) -> Floats:
    return shares(contributions.block_norms(attention, layer))
