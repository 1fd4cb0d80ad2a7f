"""Value zeroing: how far a state moves when the value of one token is 0 in one layer (Mohebbi et al. 2023).

Letters in shapes: B runs in one batch, L layers, T steps, K key columns, w width.
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
    zeros: Sequence[tuple[int, int]] = ()  # of each run, layer and token

    def values_of(self, kind: Kind, layer: int, values: Tensor) -> Tensor:
        here = [(run, token) for run, (at, token) in enumerate(self.zeros) if at == layer]
        if kind != self.kind or not here:
            return values
        zeroed, (runs, tokens) = values.clone(), torch.tensor(here).T
        zeroed[runs, :, tokens] = 0.0
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
    if question.source_alone:
        return Parts(_zeroed(question, "cross", (0, 1)))
    return Parts(_zeroed(question, "cross", (0, 2)), _zeroed(question, "decoder", (1, 2)))


def _zeroed(question: Question, kind: Kind, part: tuple[int, int]) -> Floats:
    """(T, K) the shares for the keys of one kind of attention, which is one part of the work."""
    distances = _distances(question, kind, part)  # (L, T, K)
    moves = distances.sum(axis=2, keepdims=True) > STILL  # (L, T, 1)
    total = np.where(moves, np.stack([shares(layer) for layer in distances]), 0.0).sum(axis=0)
    moving = moves.sum(axis=0)  # (T, 1)
    even = shares(question.record.attention(kind).allowed(0)[question.rows].astype(np.float32))
    return np.asarray(np.where(moving > 0, total / np.maximum(moving, 1), even), np.float32)


def _distances(question: Question, kind: Kind, part: tuple[int, int]) -> Floats:
    """(L, T, K) how far the states after each layer move without each key's value in it, as 1 - cosine."""
    stack: Kind = "encoder" if kind == "encoder" else "decoder"
    attention, own = question.record.attention(kind), question.outcome.hidden[stack]
    rows = torch.from_numpy(question.rows.copy())
    allowed = [attention.allowed(layer)[question.rows] for layer in range(attention.shape[0])]
    seen = torch.from_numpy(np.stack(allowed))  # (L, T, K)
    zeros = seen.any(dim=1).nonzero()  # (runs, 2): layer and token
    encoded = None if kind == "encoder" else question.encoded
    moved = torch.zeros(seen.shape, dtype=torch.float64)
    for batch in question.batches(len(zeros), part):
        layers, tokens = zeros[batch.start : batch.stop].T
        tape = Zeroing(
            runs=[question.scaled] * len(batch),
            cancelled=question.cancelled,
            kind=kind,
            zeros=[*zip(layers.tolist(), tokens.tolist(), strict=True)],
        )
        run = question.replay.run(tape, target=question.reads, copies=len(batch), encoded=encoded, rows=())
        after = [(run.hidden[stack][layer + 1][b, rows], own[layer + 1][0, rows]) for b, layer in enumerate(layers)]
        states, were = (torch.stack(some).double() for some in zip(*after, strict=True))  # (B, T, w)
        moved[layers, :, tokens] = 1 - torch.nn.functional.cosine_similarity(were, states, dim=-1)
    return np.asarray(torch.where(seen, moved.clamp(min=0.0), 0.0).numpy())
