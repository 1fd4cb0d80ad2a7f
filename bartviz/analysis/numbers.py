"""``bartviz.measures``, ``rollout`` and ``contributions``: the numbers of a record, of all heads at once.

Letters in shapes: L layers, H heads, Q query rows, K key columns, n tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from bartviz.analysis import contributions as lengths
from bartviz.analysis import own_measures
from bartviz.analysis import rollout as rolled
from bartviz.analysis.measures import Measured, of_record
from bartviz.analysis.own_measures import Own
from bartviz.arrays import Floats
from bartviz.record.attention import Kind
from bartviz.record.record import Record
from bartviz.record.tables import check_size


def measures(
    record: Record, kind: Kind | None = None, *, measures: Mapping[str, Own] = MappingProxyType({})
) -> Measured:
    """Every measure of every head of one kind: ``.values[name]`` is (L, H) float32, one number for each head.

    kind: "encoder", "decoder" or "cross"; None: cross-attention if the record has it, else its only kind.
    measures: measures of your own by name: a function of the weights (H, Q, K) of a layer, whose rows sum to 1, and of
        the tokens of both axes (``tokens.query.labels``, ``tokens.key.special``, ``tokens.mask``, ``tokens.kind``),
        which returns one number for each head, (H,). It is asked about each layer, and about even attention. Those of
        installed plugins are there without being named.
    ``.even[name]`` is the value of attention that looks evenly at all it may see, ``.rows[name]`` how many rows were
    averaged. Units, formulas and articles are in ``bartviz.analysis.head_measures.definitions()``: entropy is in bits,
    distance in tokens, nearly all others are shares from 0 to 1. NaN: nothing counts, or the record lacks what the
    measure needs (``share`` needs ``values=True``).
    Raises SettingError for a kind that the record lacks, and for a function that gives something else.

    >>> found = bartviz.measures(record, "encoder")
    >>> found.values["entropy"].shape  # (layers, heads)
    (4, 8)
    >>> mine = {"first key": lambda weights, tokens: weights[:, :, 0].mean(axis=1)}
    >>> bartviz.measures(record, "encoder", measures=mine).to_dataframe().columns.tolist()
    ['kind', 'layer', 'head', 'measure', 'value', 'even', 'rows']
    """
    chosen = kind or _usual(record)
    return own_measures.added(of_record(record, chosen), record, own_measures.with_plugins(measures))


def rollout(record: Record, kind: Kind | None = None, *, layer: int | None = None) -> Floats:
    """Attention rollout (n, n) float32: row i of a layer's output, spread over the tokens that the stack reads.

    kind: "encoder" or "decoder"; None: the encoder if the record has it, else the decoder. layer: the last one that is
    multiplied; None: all. Rows sum to 1, and masked cells stay 0. The heads of a layer are averaged, and half of each
    row is the residual connection; values and feed-forward layers are left out (Abnar and Zuidema 2020, section 3).
    With the values, and through encoder, decoder and cross-attention at once, it is
    ``bartviz.attribute(model, record, method="rollout")``.
    Raises SettingError for cross-attention, which connects two texts, or a layer that is not there.

    >>> rolled = bartviz.rollout(record)
    >>> rolled.shape, bool(np.allclose(rolled.sum(axis=1), 1, atol=1e-5))
    ((9, 9), True)
    """
    chosen: Kind = kind or ("decoder" if record.encoder is None else "encoder")
    return rolled.rollout(record.attention(chosen), layer)


def contributions(record: Record, kind: Kind | None = None) -> Floats:
    """What each key adds to each row through each head: (L, H, Q, K) float32, the length |a(i, j) W_O v_j|.

    It is in the units of the model's states; rows do not sum to 1. A large weight on a value of no length adds nothing
    (Kobayashi et al. 2020, equation 3). kind: as for ``measures``.
    Raises SettingError for a record without values (``capture(..., values=True)`` keeps them) or without that kind, and
    BudgetError over 2 GB.

    >>> bartviz.contributions(record, "cross").shape  # (layers, heads, target tokens, source tokens)
    (4, 8, 8, 9)
    """
    attention = record.attention(kind or _usual(record))
    check_size([attention])
    layers, heads, rows, columns = attention.shape
    found = np.empty((layers, heads, rows, columns), np.float32)
    for layer, head in np.ndindex(layers, heads):
        found[layer, head] = lengths.norms(attention, layer, head)
    return found


def _usual(record: Record) -> Kind:
    """The kind that is meant where none is named."""
    return record.kinds[-1]
