"""Contribution of each key to the output of an attention block, exactly, from values and output projection.

A weight alone does not say what arrives: the block's output for row i is the sum over heads h and keys j of
weight_hij * W_O^h v_hj, plus the projection's bias, and a large weight on a value of no length adds nothing.
Kobayashi et al. 2020, "Attention is Not Only a Weight", equations 2 and 3.

Letters in shapes: L layers, H heads, Q query rows, K key columns, d head width, D model width.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bartviz.arrays import Floats
from bartviz.errors import SettingError
from bartviz.language import later
from bartviz.record.attention import Attention

NUMBERS = 1 << 20  # of the rows that are computed together


def available(attention: Attention) -> bool:
    """Whether the record has values and an output projection, from which contributions are computed."""
    return attention.v is not None and attention.out is not None


def _parts(attention: Attention) -> tuple[Floats, Floats]:
    """Values (L, H, K, d) and projection (L, D, H, d); raises SettingError where they were not kept."""
    if attention.v is None or attention.out is None:
        raise SettingError(
            later("This record was made without values. Run the text again, with values=True in a notebook.")
        )
    return attention.v, attention.out


def context(attention: Attention, layer: int, head: int) -> Floats:
    """(Q, d) the head's output before the projection: weights times values (Vaswani et al. 2017, equation 1).

    For a silenced head this is the context before it was silenced. Raises SettingError.
    """
    weights = attention.head(layer, head)  # (Q, K)
    output: Floats = weights @ _parts(attention)[0][layer, head]
    return output


def projected(attention: Attention, layer: int, head: int) -> Floats:
    """(K, D) the value of every key, projected by the head's part of the output projection: W_O^h v_hj. Raises
    SettingError."""
    v, out = _parts(attention)
    attention.check(layer, head)
    moved: Floats = v[layer, head] @ out[layer, :, head].T
    return moved


def norms(attention: Attention, layer: int, head: int) -> Floats:
    """(Q, K) norm-weighted attention: the length of what key j adds to row i through this head, |weight_ij W_O^h v_j|.

    Kobayashi et al. 2020, equation 3. Not normalised: rows do not sum to 1. Raises SettingError.
    """
    lengths = np.linalg.norm(projected(attention, layer, head), axis=1)  # (K,)
    result: Floats = attention.head(layer, head) * lengths
    return result


def added(attention: Attention, layer: int) -> Iterator[Floats]:
    """For some rows after the other (R, K, D): what each key adds to them through all heads of a layer, sum over h of
    weight_hij W_O^h v_hj.

    Their sum over the keys, plus the projection's bias, are the rows of ``output``. Raises SettingError.
    """
    weights = attention.layer(layer)  # (H, Q, K)
    moved = np.stack([projected(attention, layer, head) for head in range(len(weights))], axis=1)  # (K, H, D)
    size = max(1, NUMBERS // (len(moved) * moved.shape[2]))
    for start in range(0, weights.shape[1], size):
        yield (weights[:, start : start + size].T @ moved).swapaxes(0, 1)  # (K, R, H) by (K, H, D)


def block_norms(attention: Attention, layer: int) -> Floats:
    """(Q, K) the length of what key j adds to row i through all heads of a layer together.

    Kobayashi et al. 2020, equation 3, with the heads summed before the length is taken. Raises SettingError.
    """
    return np.concatenate([np.linalg.norm(parts, axis=2) for parts in added(attention, layer)])


def head_outputs(attention: Attention, layer: int) -> Floats:
    """(H, Q, D) what each head adds to the block's output: W_O^h applied to its context. Raises SettingError."""
    out = _parts(attention)[1][layer]  # (D, H, d)
    return np.stack([context(attention, layer, head) @ out[:, head].T for head in range(attention.shape[1])])


def output(attention: Attention, layer: int) -> Floats:
    """(Q, D) the attention block's output: the sum of ``head_outputs`` over the heads, plus the projection's bias.

    It is what the block adds to the residual stream (before any layer norm). Raises SettingError.
    """
    total: Floats = head_outputs(attention, layer).sum(axis=0)
    return total if attention.out_bias is None else total + attention.out_bias[layer]


def lengths(attention: Attention) -> Floats:
    """(L, H, Q) the lengths of what each head adds to a row, |W_O^h context_hi|. Raises SettingError."""
    layers = range(attention.shape[0])
    return np.stack([np.linalg.norm(head_outputs(attention, layer), axis=2) for layer in layers])
