"""Attention rollout: how much of each input token reaches a later layer, if a network consisted of attention only.

Abnar and Zuidema 2020, section 3: the heads of a layer are averaged, the residual connection is half of each row
(0.5 W + 0.5 I), and the layers are multiplied. Values, feed-forward layers and layer norms are left out.
"""

from __future__ import annotations

import numpy as np

from bartviz.analysis import sentence_words
from bartviz.arrays import Floats
from bartviz.errors import SettingError
from bartviz.language import later
from bartviz.record.attention import Attention

RESIDUAL = 0.5
"""The share of the residual connection in a row."""


def rollout(attention: Attention, layer: int | None = None) -> Floats:
    """(n, n) float32: row i of the layer's output, spread over the input tokens, through layers 0 to ``layer`` (all).

    Rows sum to 1, and masked cells stay 0: a causal stack stays causal. A row whose keys are all masked keeps its own
    token. Raises SettingError for cross-attention, which connects two texts, or for a layer that is not there.
    """
    layers, _, queries, keys = attention.shape
    if attention.kind == "cross" or queries != keys:
        raise SettingError(
            later("Rollout follows one text through its own layers: choose encoder or decoder attention.")
        )
    last = layers - 1 if layer is None else layer
    if not 0 <= last < layers:
        raise SettingError(
            later(
                "There is no {kind} layer {layer}: choose 0 to {last}.",
                kind=sentence_words.later_kind(attention.kind),
                layer=last,
                last=layers - 1,
            )
        )
    rolled = np.eye(queries, dtype=np.float32)  # (n, n)
    for index in range(last + 1):
        rolled = mixed(attention, index) @ rolled
    return rolled


def mixed(attention: Attention, layer: int) -> Floats:
    """(n, n) one layer as rollout sees it: the mean of its heads and the residual connection, half each."""
    identity = np.eye(attention.shape[2], dtype=np.float32)
    weights = attention.layer(layer).mean(axis=0)  # (n, n)
    weights[attention.masked_rows] = identity[attention.masked_rows]
    return np.asarray((1 - RESIDUAL) * weights + RESIDUAL * identity, np.float32)
