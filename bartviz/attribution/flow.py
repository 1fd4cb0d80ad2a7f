"""Rollout through encoder, decoder and cross-attention, in the manner of ALTI+ (Ferrando et al. 2022).

A row's vector after an attention block is a sum: of what each token adds through the block, and of the row's own state,
which passes by it. A LayerNorm after the sum keeps it one, as its mean and deviation are those of the whole (Kobayashi
et al. 2021). What a token contributes is how much nearer the sum comes to the whole with it, in the L1 norm (ALTI,
Ferrando, Gállego and Costa-jussà 2022); contributions are shares, and the matrices of the layers are multiplied.
Feed-forward parts mix no tokens and are left out, as are biases.

Letters in shapes: n tokens of a stack, S source tokens, M decoder rows, K keys, D width.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from bartviz.analysis import contributions
from bartviz.analysis.residual import Stack
from bartviz.arrays import Floats
from bartviz.attribution.question import Parts, Question
from bartviz.experiments.residual import LayerModules

SELF, CROSS = "self-attention", "cross-attention"


def rollout(question: Question) -> Parts:
    """The shares of the tokens at the network's input in each step's row of its last layer.

    The row of a decoder has shares of earlier outputs, its own input among them, and through cross-attention and the
    encoder of source tokens; together they sum to 1.
    """
    record = question.record
    if record.cross is None:
        stack: Stack = "encoder" if record.encoder is not None else "decoder"
        return Parts(_floats(_rolled(question, stack)[question.rows]))
    rows, columns = record.cross.shape[2:]
    earlier, source = torch.eye(rows, dtype=torch.float64), torch.zeros(rows, columns, dtype=torch.float64)
    states = question.outcome.hidden["decoder"]
    for layer in range(len(states) - 1):
        modules = LayerModules(question.model, "decoder", layer)
        own, after = _mixing(question, modules, "decoder", layer, states[layer][0])  # (M, M), (M, D)
        through, _ = _mixing(question, modules, "cross", layer, after)  # (M, S + 1): last the row's own state
        passed = through[:, -1:]
        earlier, source = passed * (own @ earlier), passed * (own @ source) + through[:, :-1]
    source = source @ _rolled(question, "encoder")
    return Parts(_floats(source[question.rows]), _floats(earlier[question.rows]))


def _rolled(question: Question, stack: Stack) -> Tensor:
    """(n, n) the shares of a stack's inputs in each row of its last layer, without cross-attention."""
    states = question.outcome.hidden[stack]
    rolled = torch.eye(states[0].shape[1], dtype=torch.float64)
    for layer in range(len(states) - 1):
        modules = LayerModules(question.model, stack, layer)
        rolled = _mixing(question, modules, stack, layer, states[layer][0])[0] @ rolled
    return rolled


def _mixing(question: Question, modules: LayerModules, kind: str, layer: int, states: Tensor) -> tuple[Tensor, Tensor]:
    """The shares of each row after an attention block, and its vector (n, D).

    states (n, D) come before the block. Shares are (n, n) where a stack attends to itself, a row's own state counted
    with its own token; else (n, K + 1), the last one the row's own state.
    """
    attention, part = question.valued.attention(kind), CROSS if kind == "cross" else SELF
    bias = torch.zeros(states.shape[1])
    if attention.out_bias is not None:
        bias = torch.from_numpy(attention.out_bias[layer].copy())
    shares, after, start = [], [], 0
    for added in contributions.added(attention, layer):
        rows = torch.arange(len(added))
        parts, whole = _summed(modules, part, states[start + rows], torch.from_numpy(added), bias)
        own = torch.full_like(rows, added.shape[1])
        if kind != "cross":
            own = start + rows
            parts[rows, own] += parts[:, -1]
            parts = parts[:, :-1]
        shares.append(nearer(parts, own))
        after.append(whole)
        start += len(added)
    return torch.cat(shares), torch.cat(after)


def _summed(modules: LayerModules, part: str, states: Tensor, added: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
    """The parts (R, K + 1, D) of the vectors of some rows after a block: what comes from each key, and from the state;
    and these vectors (R, D)."""
    whole = added.sum(1) + bias
    if (norm := modules.norm_of_added(part)) is not None:
        added, whole = linear(norm, whole)(added), norm(whole)
    parts = torch.cat([added * modules.factor, states[:, None]], dim=1)
    whole = whole * modules.factor + states
    if (norm := modules.norm_of_sum(part)) is not None:
        parts, whole = linear(norm, whole)(parts), norm(whole)
    return parts, whole


def linear(norm: nn.Module, whole: Tensor) -> Callable[[Tensor], Tensor]:
    """A LayerNorm or RMSNorm as a linear map of the parts (R, K, D) of each row of ``whole`` (R, D): with the mean and
    the deviation of the whole, and without its bias. What it does to the parts sums to what it does to the whole."""
    ones = torch.ones_like(whole[0])
    signs = ones.clone()
    signs[1::2] = -1  # of mean 0 and deviation 1
    shift = norm(torch.zeros_like(ones))
    gain = (norm(signs) - shift) * signs  # (D,)
    centred = bool((norm(ones) - shift).abs().max() < gain.abs().max() / 2)

    def scaled(parts: Tensor) -> Tensor:
        moved: Tensor = gain * (parts - parts.mean(-1, keepdim=True) if centred else parts)
        return moved

    along = scaled(whole)
    factors = ((norm(whole) - shift) * along).sum(-1) / (along * along).sum(-1)  # (R,)
    return lambda parts: scaled(parts) * factors[:, None, None]


def nearer(parts: Tensor, own: Tensor) -> Tensor:
    """(R, K) shares: how much each of a row's parts (R, K, D) brings their sum nearer to the whole, max(0, |sum| - |sum
    - part|) in the L1 norm. Where none does, the row keeps its ``own`` part, (R,) the place of it."""
    exact = parts.double()
    whole = exact.sum(1, keepdim=True)
    found = (whole.abs().sum(-1) - (whole - exact).abs().sum(-1)).clamp(min=0.0)
    sums = found.sum(-1, keepdim=True)
    kept = nn.functional.one_hot(own, found.shape[1])
    return torch.where(sums > 0, found / sums, kept)


def _floats(rows: Tensor) -> Floats:
    return np.asarray(rows.float().numpy(), np.float32)
