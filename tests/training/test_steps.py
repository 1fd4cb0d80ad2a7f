"""A run over steps that was stopped, killed or asked to end goes on to the same weights, bit for bit."""

from __future__ import annotations

import itertools
import math
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from training.batches import Example
from training.loop import Settings, read_curve, write_curve
from training.steps import BY_CLOCK, FIRST, MOMENTS, Steps, moments

TOTAL = 60


class Killed(Exception):
    """Stands for the end of the process."""


class Starts:
    """Numbers, and what follows them."""

    def chunk(self, index: int, share: float) -> Sequence[Example]:
        rng = np.random.default_rng([index, int(1000 * share)])
        starts = rng.integers(0, 8, 30).tolist()
        return [([start], [start + 1]) for start in starts]


class Counting:
    """Learns which number follows which, with dropout; the seed says where from."""

    chunk_tokens = 60

    def __init__(self, seed: int) -> None:
        torch.manual_seed(seed)
        self.model = nn.Sequential(nn.Embedding(9, 8), nn.Dropout(0.5), nn.LayerNorm(8), nn.Linear(8, 9))
        self.exported: dict[str, list[Tensor]] = {}
        self.killed_at = -1  # batches
        self.count = 0

    def batches(self, rng: np.random.Generator) -> Iterator[Any]:
        raise AssertionError("chunks are asked for")

    def shown(self) -> Callable[[], Starts]:
        return Starts

    def loss(self, batch: list[Example], dtype: torch.dtype, device: torch.device) -> Tensor:
        self.count += 1
        if self.count == self.killed_at:
            raise Killed
        ids, wanted = (torch.tensor([example[i][0] for example in batch]) for i in (0, 1))
        found: Tensor = nn.functional.cross_entropy(self.model(ids), wanted)
        return found

    def checks(self) -> Sequence[Callable[[], dict[str, float]]]:
        return [lambda: {"size": float(sum(p.square().sum() for p in self.model.parameters()))}]

    def export(self, out: Path) -> None:
        self.exported[out.name] = [p.detach().clone() for p in self.model.parameters()]


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("BARTVIZ_FLOAT32", "1")
    return Settings(
        tmp_path, tmp_path / "whole", float("inf"), steps=TOTAL, tokens=16, warm=5, dropout=0.5, dropout_from=0.2
    )


def finished(settings: Settings, seed: int = 1) -> Steps:
    run = Steps(Counting(seed), settings)
    run.run()
    return run


def values(run: Steps) -> dict[str, Any]:
    known = run.optimizer.state_dict()["state"]
    return {
        "weights": [p.detach() for p in run.weights],
        "mean": run.mean,
        "moments": [known[i][name] for i in sorted(known) for name in sorted(known[i])],
        "counts": [run.steps, run.seen, run.chunk, run.place],
        "curve": [{name: row[name] for name in row if name != "minute"} for row in run.curve],
    }


def same(one: Steps, other: Steps) -> None:
    torch.testing.assert_close(values(one), values(other), rtol=0, atol=0)


@pytest.mark.parametrize("at", [1, 7, 8, 31, TOTAL])
def test_a_killed_run_ends_as_one_that_was_not(settings: Settings, at: int) -> None:
    """Killed in a step, some time after a save: what is done twice comes out the same."""
    whole = finished(settings)
    cut = replace(settings, out=settings.out.with_name("cut"), save=0.0 if at == 31 else 1e9)
    run = Steps(Counting(1), cut)
    run.numbered.killed_at = at  # type: ignore[attr-defined]
    with pytest.raises(Killed):
        run.run()
    same(finished(cut, seed=1), whole)


def test_a_run_that_is_asked_to_end_saves_and_goes_on(settings: Settings) -> None:
    whole = finished(settings)
    cut = replace(settings, out=settings.out.with_name("cut"), save=1e9)
    run = Steps(Counting(1), cut)
    step = run.step

    def and_then(batch: Any, lr: float) -> float:
        found = step(batch, lr)
        if run.steps == 20:
            os.kill(os.getpid(), signal.SIGTERM)
        return found

    run.step = and_then  # type: ignore[method-assign]
    run.run()
    assert run.steps == 21  # of a process that lives on
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    same(finished(cut, seed=5), whole)  # nothing but the state is gone on from


def test_a_run_that_ended_does_nothing_more(settings: Settings) -> None:
    whole = finished(settings)
    again = Steps(Counting(5), settings)
    again.run()
    assert again.numbered.count == 0  # type: ignore[attr-defined]
    same(again, whole)


def test_examples_of_other_processes_are_the_same(settings: Settings) -> None:
    whole = finished(settings)
    same(finished(replace(settings, out=settings.out.with_name("other"), processes=2)), whole)


def test_the_share_of_the_run_is_known_from_the_number_of_a_chunk(settings: Settings) -> None:
    run = Steps(Counting(1), settings)
    assert run.share_at(0) == 0.0
    assert run.share_at(8) == pytest.approx(0.5)  # 8 of 16 chunks of 60 tokens, for 60 steps of 16
    assert run.share_at(99) == 1.0


def test_a_run_by_the_clock_ends_when_its_minutes_have_passed(settings: Settings) -> None:
    """Each step takes a quarter of a minute on a clock of its own: four of them are a minute."""
    run = Steps(Counting(1), replace(settings, steps=0, minutes=15.0))
    times = itertools.count(start=100.0, step=15.0)
    run.clock = lambda: next(times)
    run.run()
    task = run.numbered
    assert isinstance(task, Counting)
    assert (run.steps, run.elapsed) == (60, 15.0)
    assert list(task.exported) == ["000000", *(f"{step:06d}" for step in sorted({*map(due, moments(BY_CLOCK)[1:])}))]
    torch.testing.assert_close(task.exported["000060"], run.mean, rtol=0, atol=0)


def due(step: int) -> int:
    """The first of 60 steps at which as much of the run has passed as at this one of `BY_CLOCK`."""
    return math.ceil(step * 60 / BY_CLOCK)


def test_the_seed_matters(settings: Settings) -> None:
    one, other = finished(settings), finished(replace(settings, out=settings.out.with_name("other"), seed=3))
    assert not torch.equal(one.weights[0], other.weights[0])


def test_a_folder_is_of_one_process(settings: Settings) -> None:
    run = Steps(Counting(1), settings)
    loss = run.task.loss

    def meanwhile(batch: Any, dtype: torch.dtype, device: torch.device) -> Tensor:
        with pytest.raises(BlockingIOError):
            Steps(Counting(1), settings).run()
        return loss(batch, dtype, device)

    run.task.loss = meanwhile  # type: ignore[method-assign]
    run.run()


def test_moments_are_kept_from_the_random_model_to_the_last(settings: Settings) -> None:
    run = finished(settings)
    task = run.numbered
    assert isinstance(task, Counting)
    assert set(task.exported) == {f"{step:06d}" for step in moments(TOTAL)}
    torch.testing.assert_close(task.exported["000000"], list(Counting(1).model.parameters()), rtol=0, atol=0)
    torch.testing.assert_close(task.exported[f"{TOTAL:06d}"], run.mean, rtol=0, atol=0)


def test_moments_are_on_a_log_scale() -> None:
    found = moments(40_000)
    assert (len(found), found[:2], found[-1]) == (MOMENTS, [0, FIRST], 40_000)
    ratios = np.divide(found[2:], found[1:-1])
    assert np.ptp(ratios) < 0.02
    assert moments(20) == [0, 20]


def test_a_curve_is_read_as_it_was_written(tmp_path: Path) -> None:
    rows = [{"step": 0.0, "loss": 9.5}, {"step": 50.0, "loss": 3.25, "BLEU": 1.5}]
    write_curve(rows, tmp_path / "curve.tsv")
    assert read_curve(tmp_path / "curve.tsv") == rows
