"""The number added to masked scores, in several float formats: when "about 0" is exactly 0, and when it is not.

A mask enters the formula as a matrix M of 0 and one large negative number: softmax(Q K^T / sqrt(d) + M) V
(Vaswani et al. 2017, equation 1 and section 3.2.3). NaN is returned where the arithmetic gives NaN.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from bartviz.arrays import Bools, Floats
from bartviz.errors import SettingError, choices
from bartviz.language import _, later, mark

if TYPE_CHECKING:
    import pandas as pd

Format = Literal["float32", "bfloat16", "float16"]
FORMATS: tuple[Format, ...] = get_args(Format)

# The most negative finite number of each format.
LOWEST: Mapping[Format, float] = {
    "float32": float(np.finfo(np.float32).min),
    "bfloat16": -3.3895314e38,
    "float16": -65504.0,
}
NUMBERS: Mapping[str, float] = {"-10,000": -1e4, "-1e9": -1e9, "lowest": LOWEST["float32"], "-inf": -np.inf}
USERS: Mapping[str, str] = {
    "-10,000": mark("the first BERT and GPT-2"),
    "-1e9": mark("the Annotated Transformer, many tutorials"),
    "lowest": mark("transformers, where a mask is added"),
    "-inf": mark("fused kernels, PyTorch's own layers"),
}


def number_of(name: str, to: Format = "float32") -> float:
    """The number behind a name of ``NUMBERS``; "lowest" depends on the format. Raises SettingError."""
    if name not in NUMBERS:
        raise SettingError(later("The number added to masked scores is one of {choices}.", choices=choices(NUMBERS)))
    return LOWEST[to] if name == "lowest" else NUMBERS[name]


def additive(mask: Bools, number: float) -> Floats:
    """(..., Q, K) float32: M of the formula, 0 where a row may look and ``number`` elsewhere."""
    return np.where(mask, np.float32(0), np.float32(number))


def rounded(values: Floats, to: Format) -> Floats:
    """The numbers rounded to the format, as float32; numbers that are too large become infinite, as in hardware."""
    values = np.asarray(values, np.float32)
    if to == "float32":
        return values
    if to == "float16":
        with np.errstate(over="ignore", under="ignore"):
            return values.astype(np.float16).astype(np.float32)
    bits = values.view(np.uint32)  # bfloat16 is the upper half of a float32, rounded to even
    half = (bits + np.uint32(0x7FFF) + ((bits >> 16) & np.uint32(1))) & np.uint32(0xFFFF0000)
    return np.where(np.isfinite(values), half.view(np.float32), values)


def softmax_added(scores: Floats, mask: Bools, number: float, to: Format = "float32") -> Floats:
    """(..., K) weights when ``number`` is added to the masked ``scores`` (..., K), each step rounded to the format.

    A wholly masked row is what the arithmetic gives; with minus infinity that is NaN.
    Raises SettingError for an unknown format.
    """
    if to not in FORMATS:
        raise SettingError(later("The number format is one of {choices}.", choices=choices(FORMATS)))
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        summed = rounded(rounded(scores, to) + rounded(additive(mask, number), to), to)
        powers = rounded(np.exp(rounded(summed - summed.max(axis=-1, keepdims=True), to)), to)
        return rounded(powers / powers.sum(axis=-1, keepdims=True, dtype=np.float32), to)


def compare_numbers(scores: Floats) -> pd.DataFrame:
    """The effect of each number in each format on a row of real scores (K,), K >= 2: one line for each pair.

    First one key is masked, the one with the highest score: its weight should be 0. Then all are masked: such a row
    means nothing: it is "uniform", "as if unmasked", "distorted" by the rounding of the format, or "NaN".
    """
    import pandas as pd

    scores = np.asarray(scores, np.float32)
    one, none = np.arange(scores.size) != scores.argmax(), np.zeros(scores.size, np.bool_)
    lines = []
    for name in NUMBERS:
        for to in FORMATS:
            number = number_of(name, to)
            weight = float(softmax_added(scores, one, number, to)[~one][0])
            lines.append(
                {
                    "added": name,
                    "format": to,
                    "held as": float(rounded(np.array(number, np.float32), to)),
                    "weight of a masked key": weight,
                    "exactly 0": weight == 0,
                    "row masked wholly": _(_name(softmax_added(scores, none, number, to), _open(scores, to))),
                    "used by": _(USERS[name]),
                }
            )
    return pd.DataFrame(lines)


def _open(scores: Floats, to: Format) -> Floats:
    """(K,) the weights with nothing masked."""
    return softmax_added(scores, np.ones(scores.size, np.bool_), 0.0, to)


def _name(weights: Floats, unmasked: Floats) -> str:
    """The name of the result for a row whose keys are all masked."""
    if np.isnan(weights).any():
        return "NaN"
    if np.ptp(weights) == 0:
        return mark("uniform")
    return mark("as if unmasked") if np.abs(weights - unmasked).max() < 0.02 else mark("distorted")


_OUTCOMES: Mapping[str, str] = {
    "NaN": mark("the softmax divides 0 by 0 and gives NaN, which spreads through the whole model."),
    "uniform": mark(
        "the scores are lost next to the large number, and the row is uniform. It looks real but means nothing."
    ),
    "as if unmasked": mark("the number is the same for all, so it cancels in the softmax: as if nothing were closed."),
    "distorted": mark(
        "near the large number this format has only coarse steps: the weights are neither uniform nor right."
    ),
}


def outcome(weights: Floats, unmasked: Floats) -> str:
    """In words, the result (K,) for a row whose keys are all masked; ``unmasked`` is the same row without a mask."""
    return _(_OUTCOMES[_name(weights, unmasked)])


def exactly_zero_from(to: Format) -> float:
    """The largest number whose exponential is exactly 0 in this format, to 0.01: about -104 in float32.

    Added to a masked score, it acts like minus infinity if the scores are equal; above it the weight is only small.
    """
    numbers = -np.arange(0, 150, 0.01, dtype=np.float32)  # (15000,)
    with np.errstate(under="ignore"):
        powers = rounded(np.exp(rounded(numbers, to)), to)
    return round(float(numbers[np.argmax(powers == 0)]), 2)
