"""The numbers of a step, from logits that a person can check, and how often all logits are read for them."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from bartviz.run.candidates import rows_of


class Readings(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """The operations that compute something from at least so many numbers."""

    def __init__(self, least: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.least = least
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        many = any(isinstance(each, torch.Tensor) and each.numel() >= self.least for each in args)
        if many and not func.is_view and name != "gather":  # which reads a few of them
            self.names.append(name)
        return func(*args, **(kwargs or {}))


def test_a_row_has_its_best_tokens_its_log_z_and_its_entropy() -> None:
    (row,) = rows_of(torch.tensor([[1.0, 3.0, 2.0]]).log(), 2)  # probabilities 1/6, 1/2 and 1/3
    assert [token for token, _ in row.best] == [1, 2]
    assert row.log_z == pytest.approx(math.log(6), abs=1e-6)
    assert row.bits == pytest.approx(math.log2(6) / 6 + 1 / 2 + math.log2(3) / 3, abs=1e-6)


def test_an_impossible_token_adds_nothing_to_the_entropy_of_its_row() -> None:
    logits = torch.tensor([[0.0, -torch.inf, 0.0], [0.0, 0.0, 0.0]])
    possible, all_three = rows_of(logits, 3)
    assert possible.bits == pytest.approx(1.0, abs=1e-6)
    assert possible.log_z == pytest.approx(math.log(2), abs=1e-6)
    assert all_three.bits == pytest.approx(math.log2(3), abs=1e-6)


def test_all_logits_are_read_four_times() -> None:
    """For the maximum of each block, the softmax, and the entropy's products and their sum."""
    logits = torch.randn(4, 6400, generator=torch.Generator().manual_seed(0))
    with Readings(logits.numel()) as read:
        rows_of(logits, 10)
    assert read.names == ["amax", "_softmax", "mul_", "sum"]
