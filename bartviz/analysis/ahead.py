"""Whether a head of cross-attention looks for the word to come, or at the source of the word just read.

Both kinds choose their words one to one, so that no measure of how well words choose each other tells them apart; a
head that looks back, labelled by what its rows predict, makes an alignment that is wrong by one word everywhere. The
ends of a text tell: the row that predicts its first word has read no word yet, and the one that reads its last word
predicts the end. There a head that has nothing to look for rests on special tokens.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bartviz.attention import Bools, Tokens

CLEARLY = 0.05
"""How much more weight on special tokens in the last row than in the first makes a head one that looks ahead."""


def looks_ahead(weights: NDArray[np.floating], output: Tokens | None, key: Tokens) -> Bools | None:
    """For weights (..., Q, K) of cross-attention: True (...,) for heads that look ahead, False for all others.

    output (Q,): what each row predicts. None where it cannot be told: no word was written, or the output was cut off
    before its end, or the source has no special token to rest on.
    """
    words = np.flatnonzero(~output.special) if output is not None else np.zeros(0, np.int64)
    if not len(words) or words[-1] + 1 >= weights.shape[-2] or not key.special.any():
        return None
    first, last = (
        weights[..., words[0], key.special].sum(axis=-1),
        weights[..., words[-1] + 1, key.special].sum(axis=-1),
    )
    return np.asarray(last - first > CLEARLY, np.bool_)
