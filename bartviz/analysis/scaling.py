"""The scores and weights of a head if q . k is not divided by the square root of its width.

Vaswani et al. 2017, section 3.2.1: products of vectors of width d with components of variance 1 have variance d, which
makes the softmax nearly one-hot. T5 has no division; there the comparison is with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bartviz.analysis.measure_inputs import entropy
from bartviz.arrays import Bools, Floats
from bartviz.language import _
from bartviz.record.attention import Attention

if TYPE_CHECKING:
    import pandas as pd

ROWS = 128  # rows that are looked at, evenly spaced, where there are more


@dataclass(frozen=True, eq=False)
class Side:
    """One scaling: the scores of all visible cells (S,), and the entropy in bits and the largest weight of rows (R,)
    that have a choice of keys. ``own``: whether it is the model's; ``width`` is d."""

    own: bool
    width: int
    scale: float
    scores: Floats
    entropy: Floats
    largest: Floats

    @property
    def name(self) -> str:
        """The operation on q · k, in words."""
        if math.isclose(self.scale, 1.0):
            return _("q · k unscaled, as the model does") if self.own else _("q · k unscaled")
        if self.own:
            return _("times {scale:.6g}, as the model does", scale=self.scale)
        return _("divided by √{width}", width=self.width)


@dataclass(frozen=True, eq=False)
class Scaling:
    """The same products with the model's scaling and with the other one.

    ``width`` is d; ``components`` the variance of the numbers in queries and in keys; ``rows`` of ``of_rows`` were
    measured; ``even``: the mean entropy in bits of even rows.
    """

    model: Side
    other: Side
    width: int
    components: tuple[float, float]
    rows: int
    of_rows: int
    even: float


def scaling(attention: Attention, layer: int, head: int | None = None) -> Scaling:
    """One head, or all heads of a layer. Raises SettingError for a layer or head that is not there."""
    attention.check(layer, head or 0)
    heads = range(attention.shape[1]) if head is None else [head]
    open_keys = attention.mask.any(axis=0)
    padded = ~open_keys if attention.kind != "cross" else attention.masked_rows  # rows that only pad a batch
    # a mask that closes everything says nothing
    open_keys, padded = open_keys | ~open_keys.any(), padded & ~padded.all()
    there = np.flatnonzero(~padded)
    count = len(there)
    rows = there if count <= ROWS else there[np.unique(np.linspace(0, count - 1, ROWS).astype(int))]
    mask = attention.allowed(layer)[rows]
    width, scale = attention.queries.shape[3], attention.scale
    other = width**-0.5 if math.isclose(scale, 1.0) else 1.0
    q, k = (part[layer, list(heads)] for part in (attention.queries, attention.keys))
    dots = q[:, rows] @ k.swapaxes(1, 2)  # (H, R, K)
    biases = attention.bias_of(layer)
    bias = None if biases is None else biases[list(heads)][:, rows]

    def weigh(scores: Floats) -> Floats:
        return attention.weigh(attention.capped(scores), layer, list(heads), rows)

    return Scaling(
        _side(True, scale, dots, bias, mask, width, weigh),
        _side(False, other, dots, bias, mask, width, weigh),
        width,
        (float(q[:, there].var()), float(k[:, open_keys].var())),
        len(rows),
        count,
        _even(mask),
    )


def _side(
    own: bool,
    scale: float,
    dots: Floats,
    bias: Floats | None,
    mask: Bools,
    width: int,
    weigh: Callable[[Floats], Floats],
) -> Side:
    scores = dots * np.float32(scale)  # (H, R, K)
    if bias is not None:
        scores = scores + bias
    seen = np.broadcast_to(mask, scores.shape)
    weights = weigh(scores.copy())
    told = mask.sum(axis=1) > 1  # (R,)
    bits, most = entropy(weights)[:, told].ravel(), weights.max(axis=-1)[:, told].ravel()
    return Side(own, width, scale, scores[seen], bits, most)


def _even(mask: Bools) -> float:
    """The mean over rows of log2 of the number of visible keys: the entropy of even rows."""
    visible = mask.sum(axis=1)
    visible = visible[visible > 1]
    return float(np.log2(visible).mean()) if len(visible) else 0.0


def sentence(found: Scaling) -> str:
    """One sentence: the effect of the division, with numbers."""
    if not len(found.model.entropy):
        return _("Each row may see only one key: its weight is 1, however the score is scaled.")
    scaled, plain = (found.other, found.model) if math.isclose(found.model.scale, 1.0) else (found.model, found.other)
    return _(
        "Without the division the scores have a variance of {variance:.2f} and a row's largest weight is "
        "{largest:.2f} on average ({bits:.2f} bits); with it {scaled_variance:.2f}, {scaled_largest:.2f} and "
        "{scaled_bits:.2f} bits. Even attention would be {even:.2f} bits.",
        variance=plain.scores.var(),
        largest=plain.largest.mean(),
        bits=plain.entropy.mean(),
        scaled_variance=scaled.scores.var(),
        scaled_largest=scaled.largest.mean(),
        scaled_bits=scaled.entropy.mean(),
        even=found.even,
    )


def table(found: Scaling) -> pd.DataFrame:
    """One line for each scaling."""
    import pandas as pd

    return pd.DataFrame(
        [
            {
                "scaled": side.name,
                "scale": side.scale,
                "variance of scores": float(side.scores.var()) if side.scores.size else None,
                "mean entropy in bits": _mean(side.entropy),
                "mean largest weight": _mean(side.largest),
            }
            for side in (found.model, found.other)
        ]
    )


def _mean(values: Floats) -> float | None:
    return float(values.mean()) if len(values) else None
