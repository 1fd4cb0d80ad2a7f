"""The blocked cross-entropy against torch's own, values and gradients."""

from __future__ import annotations

import pytest
import torch

from training.loss import BLOCK, cross_entropy


@pytest.mark.parametrize("rows", [1, BLOCK, 2 * BLOCK + 7])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_gradients_are_those_of_torch(rows: int, smoothing: float) -> None:
    torch.manual_seed(rows)
    states, weight = torch.randn(rows, 8), torch.randn(30, 8)
    targets = torch.randint(30, (rows,))
    ours = [tensor.clone().requires_grad_() for tensor in (states, weight)]
    theirs = [tensor.clone().requires_grad_() for tensor in (states, weight)]
    loss = cross_entropy(ours[0], ours[1], targets, smoothing)
    loss.backward()  # type: ignore[no-untyped-call]
    logits = theirs[0] @ theirs[1].t()
    torch.nn.functional.cross_entropy(logits, targets, label_smoothing=smoothing).backward()  # type: ignore[no-untyped-call]
    plain = torch.nn.functional.cross_entropy(logits, targets)
    torch.testing.assert_close(loss.detach(), plain.detach())
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine.grad, other.grad, rtol=1e-4, atol=1e-6)


def test_uniform_logits_cost_the_log_of_the_vocabulary() -> None:
    loss = cross_entropy(torch.zeros(3, 4), torch.randn(16, 4), torch.tensor([0, 5, 15]))
    assert loss.item() == pytest.approx(torch.tensor(16.0).log().item())


@pytest.mark.parametrize("rows", [1, BLOCK + 7])
def test_what_a_version_before_knew_is_kept_in_the_gradient(rows: int) -> None:
    torch.manual_seed(rows)
    keep, smoothing = 0.7, 0.1
    states, weight, known, knew = (torch.randn(size, 8) for size in (rows, 30, rows, 30))
    targets = torch.randint(30, (rows,))
    ours = [tensor.clone().requires_grad_() for tensor in (states, weight)]
    theirs = [tensor.clone().requires_grad_() for tensor in (states, weight)]
    loss = cross_entropy(ours[0], ours[1], targets, smoothing, before=(known, knew), keep=keep)
    loss.backward()  # type: ignore[no-untyped-call]
    before = torch.softmax(known @ knew.t(), 1)  # (N, V)
    share = keep * before.gather(1, targets[:, None])  # (N, 1)
    smooth = (1 - smoothing) * torch.nn.functional.one_hot(targets, 30) + smoothing / 30
    logits = theirs[0] @ theirs[1].t()
    torch.nn.functional.cross_entropy(logits, share * before + (1 - share) * smooth).backward()  # type: ignore[no-untyped-call]
    torch.testing.assert_close(loss.detach(), torch.nn.functional.cross_entropy(logits, targets).detach())
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine.grad, other.grad, rtol=1e-4, atol=1e-6)


def test_a_network_that_is_what_it_was_and_sure_is_left_as_it_is() -> None:
    states = 50 * torch.eye(4).requires_grad_()
    loss = cross_entropy(states, torch.eye(4), torch.arange(4), 0.1, before=(states.detach(), torch.eye(4)), keep=1.0)
    (found,) = torch.autograd.grad(loss, states)
    assert found.abs().max() < 1e-6
