"""A run that was paused goes on as if it had not been: weights, moving mean, moments, progress and curve."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open
from torch import Tensor, nn

from training.loop import Loop, Settings


class Lines:
    """Learns to double numbers; the seed says where from."""

    def __init__(self, seed: int) -> None:
        torch.manual_seed(seed)
        self.model = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.Linear(4, 3))

    def batches(self, rng: np.random.Generator) -> Iterator[Tensor]:
        while True:
            yield torch.from_numpy(rng.standard_normal((5, 3), np.float32))  # (B, 3)

    def loss(self, batch: Tensor, dtype: torch.dtype, device: torch.device) -> Tensor:
        found: Tensor = nn.functional.mse_loss(self.model(batch), 2 * batch)
        return found

    def checks(self) -> Sequence[Callable[[], dict[str, float]]]:
        return ()

    def export(self, out: Path) -> None:
        raise AssertionError("nothing is exported here")


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("BARTVIZ_FLOAT32", "1")
    return Settings(corpus=tmp_path, out=tmp_path, minutes=10.0)


def values(loop: Loop) -> dict[str, Any]:
    moments = loop.optimizer.state_dict()["state"]
    return {
        "weights": [p.detach().clone() for p in loop.weights],
        "mean": [m.clone() for m in loop.mean],
        "moments": {i: {name: value.clone() for name, value in known.items()} for i, known in moments.items()},
    }


def test_a_paused_run_goes_on_bit_for_bit(settings: Settings) -> None:
    first = Loop(Lines(1), settings, 0)
    batches = first.task.batches(np.random.default_rng(3))
    for _ in range(3):
        first.step(next(batches), 1e-2)
        first.remember()
    first.elapsed, first.steps, first.seen = 0.1 + 0.2, 3, 15
    first.curve.append({"minute": 0.3, "train_loss": 1 / 3})
    first.save()

    second = Loop(Lines(2), settings, 0)
    second.restore()
    assert (second.elapsed, second.steps, second.seen) == (0.1 + 0.2, 3, 15)
    assert second.curve == [{"minute": 0.3, "train_loss": 1 / 3}]
    batch = next(batches)
    for loop in (first, second):
        loop.step(batch, 1e-2)
        loop.remember()
    torch.testing.assert_close(values(second), values(first), rtol=0, atol=0)


def test_minutes_are_of_the_processor(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    wall, busy = itertools.count(0, 2), itertools.count(0, 30)
    monkeypatch.setattr("time.monotonic", lambda: float(next(wall)))
    monkeypatch.setattr("time.process_time", lambda: float(next(busy)))
    loop = Loop(Lines(1), settings, 0)
    loop.round(loop.task.batches(np.random.default_rng(0)))
    assert loop.elapsed == 0.5


def test_without_a_checkpoint_a_run_begins(settings: Settings) -> None:
    loop = Loop(Lines(1), settings, 0)
    before = values(loop)
    loop.restore()
    torch.testing.assert_close(values(loop), before, rtol=0, atol=0)
    assert loop.steps == 0


def test_a_checkpoint_holds_numbers_and_text_alone(settings: Settings) -> None:
    loop = Loop(Lines(1), settings, 0)
    loop.step(next(loop.task.batches(np.random.default_rng(0))), 1e-2)
    loop.save()
    with safe_open(loop.checkpoint, "pt") as file:
        assert set(file.metadata()) == {"progress", "curve"}
        assert len(file.keys()) == len(loop.weights) * 5  # weight, mean, step, first and second moment
