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
from numpy.typing import NDArray

from bartviz.arrays import Bools
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
Ways = NDArray[np.int8]


def ways(record: Record, weights: NDArray[np.floating]) -> Ways | None:
    """For weights (..., Q, K) of the record's cross-attention: AHEAD, BACK or NEITHER (...,), as in ``looks``.

    A text that was cut off, or given and incomplete, has not ended: the model gave its end a low probability.
    """
    last = _words(record.output)[-1:]
    ends = [math.exp(step.log_probability) for step in bare(record.steps) if step.position in last + 1]
    return looks(weights, record.output, record.attention("cross").key, ended=not ends or ends[0] >= LIKELY)


def looks_ahead(weights: NDArray[np.floating], output: Tokens | None, key: Tokens) -> Bools | None:
    """True (...,) for heads that look ahead, False for all others; for a text that has ended."""
    found = looks(weights, output, key)
    return None if found is None else np.asarray(found == AHEAD, np.bool_)


def looks(weights: NDArray[np.floating], output: Tokens | None, key: Tokens, *, ended: bool = True) -> Ways | None:
    """For weights (..., Q, K) of cross-attention: AHEAD, BACK or NEITHER (...,) for each head.

    output (Q,): what each row predicts. None if that is unknown: the output has no word, or one word without a row
    after it, or the source has no special token.
    """
    words = _words(output)
    if not len(words) or not key.special.any():
        return None
    end = int(words[-1]) + 1  # the row that predicts what comes after the last word
    ended = ended and end < weights.shape[-2]
    behind = [*words[1:], *([end] if end < weights.shape[-2] and not (ended and len(words) > 1) else [])]
    if not behind:
        return None
    rests = weights[..., key.special].sum(axis=-1)  # (..., Q)
    first = rests[..., words[0]]
    back = first - rests[..., behind].mean(axis=-1) > RESTS
    ahead = rests[..., end] - first > CLEARLY if ended else first < RESTS
    return np.where(back, BACK, np.where(ahead, AHEAD, NEITHER)).astype(np.int8)


def _words(output: Tokens | None) -> NDArray[np.intp]:
    return np.flatnonzero(~output.special) if output is not None else np.zeros(0, np.intp)
