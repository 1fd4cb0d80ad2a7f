"""The conditions on attention and texts that every figure relies on. NumPy only."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bartviz.arrays import Bools
from bartviz.errors import RecordError, WeightsOnlyError
from bartviz.language import later
from bartviz.text.tokens import writable

if TYPE_CHECKING:
    from bartviz.record.attention import Attention
    from bartviz.record.prediction import Prediction

LARGEST = 1e12  # of a number in a record; those of trained models stay below 1e6
LARGEST_SCORE = 1e30  # float32 ends at 3.4e38
MOST_HEADS = 20_000  # of one kind; the largest published models have about 16,000
ROW_LIMIT = 0.01  # how far from 1 a row of given weights may sum: in bfloat16 each is rounded by up to 0.4%


def check_heads(layers: int, heads: int) -> None:
    """Raise RecordError for more heads than any page, figure or table can show."""
    if layers * heads > MOST_HEADS:
        raise RecordError(
            later(
                "{layers:,} layers of {heads:,} heads are {count:,} heads; records of at most {limit:,} are read.",
                layers=layers,
                heads=heads,
                count=layers * heads,
                limit=MOST_HEADS,
            )
        )


def check_numbers(kind: str, scale: float, *arrays: NDArray[np.float32]) -> None:
    """Raise RecordError for empty attention, for numbers that are not finite, and for numbers whose scores would
    overflow. ``arrays``: queries and keys (L, H, n, d) first."""
    if not arrays[0].size or not arrays[1].size:
        raise RecordError(f"The {kind} attention is empty: layers, heads, tokens and width are at least 1.")
    largest = [float(max(array.max(), -array.min())) for array in arrays if array.size]
    if not all(map(math.isfinite, (scale, *largest))):
        raise RecordError(f"The {kind} attention holds numbers that are not finite (NaN or infinity).")
    score = abs(scale) * largest[0] * largest[1] * arrays[0].shape[3]
    if max(largest) > LARGEST or score > LARGEST_SCORE:
        raise RecordError(f"The {kind} attention holds numbers so large that no weights can be computed.")


def check_weights(kind: str, weights: NDArray[np.float32]) -> None:
    """Raise RecordError unless the weights have four axes (L, H, Q, K), and are finite and not negative."""
    if weights.ndim != 4 or not weights.size:
        raise RecordError(f"The {kind} weights have four axes (L, H, Q, K), none of them empty, not {weights.shape}.")
    if not np.isfinite(weights).all():
        raise RecordError(f"The {kind} attention holds numbers that are not finite (NaN or infinity).")
    if weights.min() < 0 or weights.max() > 1 + ROW_LIMIT:
        raise RecordError(f"The {kind} attention holds weights that are not between 0 and 1.")


def check_sides(encoder: Attention | None, decoder: Attention | None, cross: Attention | None) -> None:
    """Raise RecordError if the shapes of the kinds of attention of one run do not fit together."""
    for attention in (encoder, decoder):
        if attention is not None and attention.shape[2] != attention.shape[3]:
            raise RecordError(f"The {attention.kind}'s own attention needs as many rows as columns: both are one text.")
    if cross is None:
        return
    if decoder is None or (encoder is None and cross.has_scores):
        raise RecordError("Cross-attention needs an encoder and a decoder as well; weights need a decoder.")
    columns = cross.shape[3] if encoder is None else encoder.shape[2]
    if cross.shape[2:] != (decoder.shape[2], columns):
        raise RecordError("Cross-attention needs the decoder's rows and, as columns, those of the encoder.")


def check_prediction(prediction: Prediction, mask: Bools, rows: int) -> None:
    """Raise RecordError unless a prediction has a row for each token of the text that is not padding, and names one of
    the ``rows`` of the decoder, if any. ``mask`` (n, n): the encoder's."""
    seen = int(mask.any(axis=0).sum())
    if prediction.task != "text" and len(prediction.logits) != seen:
        raise RecordError(f"{len(prediction.logits)} rows of a prediction for {seen} tokens: there is one for each.")
    if prediction.row is not None and not 0 <= prediction.row < rows:
        raise RecordError("The prediction names a decoder row that the record does not have.")


def check_texts(*texts: str) -> None:
    """Raise RecordError for texts that no file can hold."""
    if not writable(*texts):
        raise RecordError("The record's texts must not contain lone surrogates (halves of characters).")


def weights_only() -> WeightsOnlyError:
    """The error for what needs more than weights."""
    return WeightsOnlyError(
        later(
            "This record was made from attention weights only. The numbers here need queries and keys, or "
            "the model: capture the text with the model to see them."
        )
    )
