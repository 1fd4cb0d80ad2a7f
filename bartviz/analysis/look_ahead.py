"""Whether a head of cross-attention looks for the word to come, or at the source of the word just read.

Both kinds choose their words one to one, so that no measure of how well words choose each other tells them apart; a
head that looks back, labelled by what its rows predict, makes an alignment that is wrong by one word everywhere. The
ends of a text tell: the row that predicts its first word has read no word yet, and the one that reads its last word
predicts the end. There a head that has nothing to look for rests on special tokens. Where a text breaks off, its last
row still has a word to look for, and the first row alone is held against those behind it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bartviz.arrays import Bools
from bartviz.record.record import Record
from bartviz.text.tokens import Tokens

CLEARLY = 0.05
"""How much more weight on special tokens in the last row than in the first makes a head one that looks ahead."""
RESTS = 0.5
"""How much more of it in the first row than in those behind makes a head one that looks back."""
LIKELY = 0.5
"""From this probability of its end on, a text has ended as the model would have it."""
AHEAD, BACK, NEITHER = 1, -1, 0
Ways = NDArray[np.int8]


def ways(record: Record, weights: NDArray[np.floating]) -> Ways | None:
    """For weights (..., Q, K) of the record's cross-attention: AHEAD, BACK or NEITHER (...,), as ``looks`` tells them.

    A text that was cut off, or given and stops in the middle, has not ended: there the model held its end for unlikely.
    """
    last = _words(record.output)[-1:]
    ends = [step.chosen.probability for step in record.steps if step.position in last + 1]
    return looks(weights, record.output, record.attention("cross").key, ended=not ends or ends[0] >= LIKELY)


def looks_ahead(weights: NDArray[np.floating], output: Tokens | None, key: Tokens) -> Bools | None:
    """True (...,) for heads that look ahead, False for all others; for a text that has ended."""
    found = looks(weights, output, key)
    return None if found is None else np.asarray(found == AHEAD, np.bool_)


def looks(weights: NDArray[np.floating], output: Tokens | None, key: Tokens, *, ended: bool = True) -> Ways | None:
    """For weights (..., Q, K) of cross-attention: AHEAD, BACK or NEITHER (...,) for each head.

    output (Q,): what each row predicts. None where it cannot be told: no word was written, or one alone without a row
    behind it, or the source has no special token to rest on.
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
