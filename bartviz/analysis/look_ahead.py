"""Whether a head of cross-attention looks for the next word, or at the source of the word just read.

Both kinds align words one to one, so measures of alignment cannot distinguish them; but if a head that looks back is
labelled by what its rows predict, its alignment is off by one word everywhere. The two ends of a text make the
difference: the row that predicts the first word has read no word yet, and the row that reads the last word predicts the
end. There a head with nothing to look for puts its weight on special tokens. If a text was cut off, its last row still
has a word to look for, and only the first row is compared with the rows after it.
"""

from __future__ import annotations

import math

import numpy as np
from array_api_compat import array_namespace, device
from numpy.typing import NDArray

from bartviz.analysis.measure_inputs import mean
from bartviz.arrays import Array
from bartviz.record.record import Record
from bartviz.record.steps import bare
from bartviz.text.tokens import Tokens

CLEARLY = 0.05
"""A head looks ahead if the last row has this much more weight on special tokens than the first row."""
RESTS = 0.5
"""A head looks back if the first row has this much more of it than the rows after it."""
LIKELY = 0.5
"""If the end of a text has at least this probability, the text is complete for the model."""
AHEAD, BACK, NEITHER = 1, -1, 0
Directions = NDArray[np.int8]


def record_directions(record: Record, weights: NDArray[np.floating]) -> Directions | None:
    """``head_directions`` for weights (..., Q, K) of the record's cross-attention."""
    return head_directions(weights, record.output, record.attention("cross").key, ended=ended(record))


def ended(record: Record) -> bool:
    """Whether the output is complete: a text that was cut off, or given and incomplete, has an end of low
    probability."""
    last = np.zeros(0, np.intp) if record.output is None else _words(record.output)[-1:]
    ends = [math.exp(step.log_probability) for step in bare(record.steps) if step.position in last + 1]
    return not ends or ends[0] >= LIKELY


def head_directions(
    weights: NDArray[np.floating], output: Tokens | None, key: Tokens, *, ended: bool = True
) -> Directions | None:
    """For weights (..., Q, K) of cross-attention: AHEAD, BACK or NEITHER (...,) for each head.

    output (Q,): what each row predicts. None if that is unknown: the output has no word, or one word without a row
    after it, or the source has no special token.
    """
    if output is None or not key.special.any():
        return None
    rests = weights[..., key.special].sum(axis=-1)  # (..., Q)
    rows = rests.shape[-1]
    words = np.zeros((1, rows), np.bool_)
    words[0, _words(output)] = True
    found, known = directions(rests.reshape(1, -1, rows), words, np.array([rows]), np.array([ended]))
    return np.asarray(found, np.int8).reshape(rests.shape[:-1]) if known.all() else None


def directions(rests: Array, words: Array, rows: Array, ended: Array) -> tuple[Array, Array]:
    """AHEAD, BACK or NEITHER (B, H) for the heads of B texts, and (B,) where that is known.

    rests (B, H, Q): the weight of each row on special tokens. words (B, Q): rows that predict a word. rows (B,): how
    many there are, without padding. ended (B,): whether the text is complete. NumPy and torch alike.
    """
    xp = array_namespace(rests)
    index, count = xp.arange(words.shape[-1], device=device(words)), xp.sum(words, axis=-1, dtype=xp.int64)
    first = xp.argmax(xp.astype(words, xp.int8), axis=-1)
    end = xp.max(xp.where(words, index + 1, 0), axis=-1)  # (B,) the row that predicts what comes after the last word
    ended = ended & (end < rows)
    # whether that row is compared with the first, too
    after = (count > 0) & (end < rows) & ~(ended & (count > 1))
    behind = (words & (index != first[:, None])) | ((index == end[:, None]) & after[:, None])  # (B, Q)

    def at(row: Array) -> Array:
        return xp.sum(rests * (index == row[:, None])[:, None], axis=-1)

    others = mean(xp.sum(rests * behind[:, None], axis=-1), xp.sum(behind, axis=-1)[:, None])
    back = at(first) - others > RESTS
    ahead = xp.where(ended[:, None], at(end) - at(first) > CLEARLY, at(first) < RESTS)
    found = xp.astype(ahead & ~back, xp.int8) * AHEAD + xp.astype(back, xp.int8) * BACK
    known = xp.any(behind, axis=-1)
    return found * known[:, None], known


def _words(output: Tokens) -> NDArray[np.intp]:
    return np.flatnonzero(~output.special)
