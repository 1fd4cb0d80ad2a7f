"""Value zeroing: how far a state moves when the value of one token is 0 in one layer (Mohebbi et al. 2023).

Letters in shapes: B runs in one batch, T steps, K key columns, w width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from bartviz.arrays import Floats
from bartviz.attribution.question import Parts, Question
from bartviz.attribution.weights import shares
from bartviz.experiments.replay import SideBySide
from bartviz.record.attention import Kind

STILL = 1e-10  # 1 - cosine, over all tokens: what float32 leaves of states that are the same


@dataclass
class Zeroing(SideBySide):
    """A tape for runs in one batch, in each of which the value of one token is 0 in all heads of one layer."""

    kind: Kind = "encoder"
    layer: int = 0
    tokens: Sequence[int] = ()  # of each run

    def values_of(self, kind: Kind, layer: int, values: Tensor) -> Tensor:
        if (kind, layer) != (self.kind, self.layer):
            return values
        zeroed = values.clone()
        zeroed[torch.arange(len(self.tokens)), :, torch.tensor(self.tokens)] = 0.0
        return zeroed


def value_zeroing(question: Question) -> Parts:
    """1 - cosine of a row's state after a layer and the same with a token's value at 0 in that layer, as shares of
    the row; the mean over layers (Mohebbi et al. 2023), of those in which any value moves the row: a layer whose
    attention adds nothing has no shares. Where no layer moves it, every token that it sees has the same share.

    The tokens of the source are those of cross-attention where there is one, and the earlier outputs those of the
    decoder's own. The state after the last layer is the one that the output layer reads, normalised where the
    network does so.
    """
    if question.record.cross is None:
        return Parts(_zeroed(question, question.kind, (0, 1)))
    return Parts(_zeroed(question, "cross", (0, 2)), _zeroed(question, "decoder", (1, 2)))


def _zeroed(question: Question, kind: Kind, part: tuple[int, int]) -> Floats:
    """(T, K) the shares for the keys of one kind of attention, which is one part of the work."""
    attention = question.record.attention(kind)
    layers, _heads, _rows, columns = attention.shape
    total, moving = np.zeros((len(question.rows), columns)), np.zeros((len(question.rows), 1))
    for layer in range(layers):
        distances = _distances(question, kind, layer, columns, (part[0] * layers + layer, part[1] * layers))
        moves = distances.sum(axis=1, keepdims=True) > STILL  # (T, 1)
        total += np.where(moves, shares(distances), 0.0)
        moving += moves
    even = shares(attention.allowed(0)[question.rows].astype(np.float32))
    return np.asarray(np.where(moving > 0, total / np.maximum(moving, 1), even), np.float32)


def _distances(question: Question, kind: Kind, layer: int, columns: int, part: tuple[int, int]) -> Floats:
    """(T, K) how far the states after a layer move without each key's value, as 1 - cosine."""
    stack: Kind = "encoder" if kind == "encoder" else "decoder"
    rows = torch.from_numpy(question.rows.copy())
    own = question.outcome.hidden[stack][layer + 1][0, rows].double()  # (T, w)
    seen = torch.from_numpy(question.record.attention(kind).allowed(layer)[question.rows])  # (T, K)
    moved = torch.zeros(len(rows), columns, dtype=torch.float64)
    read = seen.any(dim=0).nonzero()[:, 0].tolist()
    for batch in question.batches(len(read), part):
        at = read[batch.start : batch.stop]
        tape = Zeroing(
            runs=[question.scaled] * len(at), cancelled=question.cancelled, kind=kind, layer=layer, tokens=at
        )
        encoded = None if kind == "encoder" else question.encoded
        outcome = question.replay.run(tape, target=question.reads, copies=len(at), encoded=encoded, rows=())
        states = outcome.hidden[stack][layer + 1][:, rows].double()  # (B, T, w)
        moved[:, at] = 1 - torch.nn.functional.cosine_similarity(own, states, dim=-1).T
    return np.asarray(torch.where(seen, moved.clamp(min=0.0), 0.0).numpy())
