"""One training loop for the three models: timed schedule, averaged workers, moving average, checkpoints, curve.

The learning rate is a function of the share of `--minutes` that has passed: minutes of the processor's time, so that a
run at low priority on a busy machine learns as much as one alone. Several workers (one thread each) train copies on
their own data, and their weights are averaged every few seconds (local SGD): no worker waits for another at every step,
and sharing the machine with others costs little.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor
from torch.multiprocessing.spawn import spawn

from training import checkpoint
from training.checkpoint import Metrics


@dataclass(frozen=True)
class Settings:
    """How a run is trained; the command line of every model fills it."""

    corpus: Path
    out: Path
    minutes: float
    workers: int = 1
    threads: int = 1
    seed: int = 20
    peak: float = 1e-3  # learning rate
    tokens: int = 1500  # per batch, padding counted
    warm: float = 200  # updates of rising learning rate
    cool: float = 0.35  # last share of the time, learning rate falling to 0
    dropout: float = 0.0
    dropout_from: float = 0.3  # share of the time after which dropout is used
    weight_decay: float = 0.01
    clip: float = 1.0
    average: float = 0.05  # the moving average looks back over this share of the time so far
    sync: float = 5.0  # seconds between averaging of the workers
    save: float = 150.0  # seconds between checkpoints
    look: float = 5.0  # minutes between evaluations
    stop: float = 1e9  # minutes after which to pause (the schedule stays that of `minutes`)
    steps: int = 0  # of a run whose schedule counts them (`training.steps`) and not minutes; 0: minutes
    measured: bool = True  # at each look; or later
    processes: int = 0  # that make its examples; 0: they are made between the steps
    start: Path | None = None
    hidden: int | None = None  # width of the feed-forward parts
    int8: bool = False  # write matrices as int8 rows
    extra: Mapping[str, Any] = field(default_factory=dict)


class Task(Protocol):
    """What differs between the three models."""

    model: Any

    def batches(self, rng: np.random.Generator) -> Iterator[Any]: ...

    def loss(self, batch: Any, dtype: torch.dtype, device: torch.device) -> Tensor: ...

    def checks(self) -> Sequence[Callable[[], Metrics]]: ...

    def export(self, out: Path) -> None: ...


def rate(share: float, updates: int, settings: Settings) -> float:
    """Learning rate after a `share` of the run and `updates`: rising, level, then falling linearly to 0."""
    rising = (updates + 1) / settings.warm
    left = max(0.0, 1.0 - share)
    return settings.peak * min(rising, left / settings.cool, 1.0)


def number_type(device: torch.device) -> torch.dtype:
    """bfloat16 for the matrix products where the processor has instructions for it, else float32."""
    fast = device.type == "cuda" or torch.ops.mkldnn._is_mkldnn_bf16_supported()
    return torch.bfloat16 if fast and not os.environ.get("BARTVIZ_FLOAT32") else torch.float32


class Loop:
    """The state of one worker of a run."""

    def __init__(self, task: Task, settings: Settings, rank: int) -> None:
        self.task, self.settings, self.rank = task, settings, rank
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.dtype = number_type(self.device)
        self.model = task.model.to(self.device)
        self.weights = [p for p in self.model.parameters() if p.requires_grad]
        self.mean = [p.detach().clone() for p in self.weights]
        self.optimizer = torch.optim.AdamW(
            _groups(self.model, settings.weight_decay), lr=0.0, betas=(0.9, 0.98), fused=True
        )
        self.elapsed, self.steps, self.seen = 0.0, 0, 0  # minutes, batches of all workers, examples of all workers
        self.curve: list[Metrics] = []

    def run(self) -> None:
        """Train to the end of the time, evaluating and saving on the way, then export."""
        self.restore()
        rng = np.random.default_rng([self.settings.seed, self.rank, self.steps])
        torch.manual_seed(self.settings.seed + 1000 * self.rank + self.steps)
        batches = self.task.batches(rng)
        saved, looked = time.monotonic(), self.elapsed
        while self.elapsed < min(self.settings.minutes, self.settings.stop):
            self.round(batches)
            if self.elapsed - looked >= self.settings.look:
                self.look()
                looked = self.elapsed
            if time.monotonic() - saved >= self.settings.save:
                self.save()
                saved = time.monotonic()
        self.look()
        self.save()

    def round(self, batches: Iterator[Any]) -> None:
        """Train for some seconds, then average with the other workers."""
        begin, steps, seen, losses = time.monotonic(), 0, 0, 0.0
        busy = time.process_time()
        share = self.elapsed / self.settings.minutes
        set_dropout(self.model, self.settings.dropout if share >= self.settings.dropout_from else 0.0)
        self.model.train()
        while (now := time.monotonic() - begin) < self.settings.sync:
            batch = next(batches)
            passed = (self.elapsed + now / 60) / self.settings.minutes
            losses += self.step(batch, rate(passed, self.steps // self.settings.workers + steps, self.settings))
            steps, seen = steps + 1, seen + len(batch)
        counts = self.gather(torch.tensor([steps, seen, losses], dtype=torch.float64))
        worked = (time.process_time() - busy) / self.settings.threads
        self.elapsed += (worked if self.settings.workers == 1 else self.settings.sync) / 60  # workers stay in step
        self.steps += int(counts[0])
        self.seen += int(counts[1])
        self.train_loss = float(counts[2] / counts[0])
        self.remember()

    def step(self, batch: Any, lr: float) -> float:
        """One batch, one update."""
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        with torch.autocast(self.device.type, self.dtype, enabled=self.dtype != torch.float32):
            loss = self.task.loss(batch, self.dtype, self.device)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.weights, self.settings.clip)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.item()

    def gather(self, counts: Tensor) -> Tensor:
        """Average the weights of the workers, each counting by its steps; return the sums of `counts`."""
        if self.settings.workers == 1:
            return counts
        sums = counts.clone()
        dist.all_reduce(sums)
        with torch.no_grad():
            flat = torch.cat([p.flatten() for p in self.weights]) * float(counts[0] / sums[0])
            dist.all_reduce(flat)
            parts = torch.split(flat, [p.numel() for p in self.weights])
            for p, part in zip(self.weights, parts, strict=True):
                p.copy_(part.view_as(p))
        return sums

    def remember(self) -> None:
        """Move the running mean of the weights; it looks back over a fixed share of the time so far."""
        keep = math.exp(-self.settings.sync / (5.0 + 60 * self.elapsed * self.settings.average))
        torch._foreach_lerp_(self.mean, [p.detach() for p in self.weights], 1.0 - keep)

    def look(self) -> None:
        """Evaluate the mean of the weights; the checks are shared among the workers."""
        own = [p.detach().clone() for p in self.weights]
        self.assign(self.mean)
        self.model.eval()
        row: Metrics = {
            "minute": round(self.elapsed, 2),
            "step": self.steps,
            "seen": self.seen,
            "train_loss": self.train_loss,
        }
        found: list[Metrics] = []
        checks = self.task.checks() if self.settings.measured else []
        with torch.no_grad():
            found += [check() for i, check in enumerate(checks) if i % self.settings.workers == self.rank]
        for metrics in _from_all(found, self.settings.workers):
            row |= metrics
        self.curve.append(row)
        if self.rank == 0:
            print("  ".join(f"{k} {v:.4g}" for k, v in row.items()), time.strftime("%H:%M:%S"), flush=True)
            self.task.export(self.folder)
        self.assign(own)

    def assign(self, values: Sequence[Tensor]) -> None:
        """Put `values` in the place of the weights."""
        with torch.no_grad():
            torch._foreach_copy_([p.detach() for p in self.weights], list(values))

    @property
    def folder(self) -> Path:
        """Folder of the model as it is now."""
        return self.settings.out

    @property
    def checkpoint(self) -> Path:
        """File to continue from."""
        return self.settings.out / "checkpoint.safetensors"

    def save(self) -> None:
        """Write the checkpoint and the curve (first worker only)."""
        if self.rank:
            return
        moments = self.optimizer.state_dict()["state"]
        state = checkpoint.State(self.weights, self.mean, moments, self.progress(), self.curve)
        checkpoint.write(state, self.checkpoint)
        write_curve(self.curve, self.settings.out / "curve.tsv")

    def restore(self) -> None:
        """Continue from the checkpoint, if there is one."""
        if not self.checkpoint.is_file():
            return
        state = checkpoint.read(self.checkpoint, str(self.device))
        self.assign(state.weights)
        self.mean = list(state.mean)
        groups = self.optimizer.state_dict()["param_groups"]
        self.optimizer.load_state_dict({"state": state.moments, "param_groups": groups})
        self.proceed(state.progress)
        self.curve = list(state.curve)

    def progress(self) -> list[float]:
        """How far the run is, as numbers."""
        return [self.elapsed, self.steps, self.seen]

    def proceed(self, progress: Sequence[float]) -> None:
        """Go on from where `progress` was."""
        self.elapsed, self.steps, self.seen = float(progress[0]), int(progress[1]), int(progress[2])


def set_dropout(model: Any, share: float) -> None:
    """Set the dropout of every layer of BART or BERT, attention weights too, and have the configuration say so."""
    config = getattr(model, "config", None)
    for name in ("dropout", "attention_dropout", "hidden_dropout_prob", "attention_probs_dropout_prob"):
        if hasattr(config, name):
            setattr(config, name, share)
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = share
        elif isinstance(getattr(module, "dropout", None), float):
            module.dropout = share


def write_curve(curve: Sequence[Metrics], path: Path) -> None:
    """The curve as a table."""
    names = list(dict.fromkeys(name for row in curve for name in row))
    lines = ["\t".join(names)] + ["\t".join(f"{row[n]:.5g}" if n in row else "" for n in names) for row in curve]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read_curve(path: Path) -> list[Metrics]:
    """The curve that `write_curve` wrote."""
    names, *lines = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
    return [{name: float(text) for name, text in zip(names, line, strict=True) if text} for line in lines]


def arguments(description: str, **defaults: Any) -> argparse.ArgumentParser:
    """The options that the three commands share; `defaults` are those of the model."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--corpus", help="folder of the corpus (default: BARTVIZ_CORPUS)")
    parser.add_argument("--out", type=Path, required=True, help="folder for checkpoints and the model")
    parser.add_argument("--int8", action="store_true", help="write matrices as int8 rows, half of float16's size")
    for name, kind in (
        ("minutes", float),
        ("workers", int),
        ("threads", int),
        ("seed", int),
        ("peak", float),
        ("tokens", int),
    ):
        parser.add_argument(f"--{name}", type=kind, default=defaults.get(name, getattr(Settings, name, None)))
    for name in ("warm", "cool", "dropout", "dropout-from", "look", "stop"):
        key = name.replace("-", "_")
        parser.add_argument(f"--{name}", type=float, default=defaults.get(key, getattr(Settings, key)))
    return parser


def train(make: Callable[[Settings], Task], settings: Settings) -> None:
    """Train with as many workers as the settings say; the task is made in each of them."""
    settings.out.mkdir(parents=True, exist_ok=True)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    if settings.workers == 1:
        _work(0, make, settings)
        return
    meeting = settings.out / f"meeting-{os.getpid()}"
    spawn(_work, (make, settings, str(meeting)), nprocs=settings.workers)  # type: ignore[no-untyped-call]


def _work(rank: int, make: Callable[[Settings], Task], settings: Settings, meeting: str = "") -> None:
    torch.set_num_threads(settings.threads)
    if settings.workers > 1:
        dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=settings.workers)
    torch.manual_seed(settings.seed)
    Loop(make(settings), settings, rank).run()
    if settings.workers > 1:
        dist.destroy_process_group()
        Path(meeting).unlink(missing_ok=True)


def _groups(model: Any, decay: float) -> list[dict[str, Any]]:
    """Weight decay for matrices, none for vectors (biases and layer norms)."""
    named = [p for p in model.parameters() if p.requires_grad]
    return [
        {"params": [p for p in named if p.ndim > 1], "weight_decay": decay},
        {"params": [p for p in named if p.ndim < 2], "weight_decay": 0.0},
    ]


def _from_all(found: list[Metrics], workers: int) -> list[Metrics]:
    if workers == 1:
        return found
    everyone: list[list[Metrics]] = [[] for _ in range(workers)]
    dist.all_gather_object(everyone, found)
    return [metrics for one in everyone for metrics in one]
