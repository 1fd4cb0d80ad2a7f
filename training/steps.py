"""A run whose schedule counts steps: stopped or killed at any moment, the same command takes it to the same end.

Where `steps` is 0 the schedule follows the clock instead, for `minutes`: for a fast device that is there for some
minutes, and does as many steps as it can. Such a run goes on as well, but two of them are not the same.

What is drawn depends on the seed and a number alone: a chunk of examples on its number, dropout on that of its step.
So a state of weights, moments and a few counts is all there is to go on from, bit for bit. Moments on a log scale of
steps keep the model as it was, from the random one to the last: the training can be looked at afterwards.
"""

from __future__ import annotations

import bisect
import fcntl
import itertools
import math
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import torch

from training.ahead import Chunks, chunks
from training.batches import Example, by_length
from training.loop import Loop, Settings, Task, rate, set_dropout

MOMENTS = 16
FIRST = 50  # steps before the second moment; before the first there are none
BY_CLOCK = 36_000  # steps that a run by the clock keeps its moments as if it had
REMEMBERED = 100  # steps that the training loss is averaged over


class Numbered(Task, Protocol):
    """A task whose examples come in chunks that have numbers, here or in other processes."""

    chunk_tokens: int  # of a chunk, about: by this the share of the run is known at which it is used

    def shown(self) -> Callable[[], Chunks]: ...


def moments(total: int) -> list[int]:
    """Steps at which the model is kept: 0, then `MOMENTS` - 1 on a log scale, the last of them `total`."""
    later = np.geomspace(min(FIRST, total), total, MOMENTS - 1)
    return sorted({0, *(round(float(step)) for step in later)})


class Steps(Loop):
    """The state of a run of `settings.steps` steps, by one worker."""

    def __init__(self, task: Numbered, settings: Settings) -> None:
        super().__init__(task, settings, 0)
        self.numbered = task
        self.chunk = self.place = 0  # the next batch: its chunk, and which of it
        self.looked = 0  # moments that are kept, or were passed
        self.train_loss = 0.0
        self.stopped = False
        total = settings.steps or BY_CLOCK
        self.kept = [step / total for step in moments(total)]  # shares of the run
        self.clock = time.process_time if settings.steps else time.monotonic

    def run(self) -> None:
        """Train to the end, or until the process is told to stop; evaluate, keep moments and save on the way."""
        self.settings.out.mkdir(parents=True, exist_ok=True)
        with (self.settings.out / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # raises BlockingIOError where another process trains here
            before = signal.signal(signal.SIGTERM, self.stop)
            try:
                self.restore()
                self.train()
            finally:
                signal.signal(signal.SIGTERM, before)

    def train(self) -> None:
        """The steps that are left."""
        batches, saved = self.batches(), time.monotonic()
        self.look_where_due()
        if self.share() < 1.0:
            batches = itertools.chain([next(batches)], batches)  # other processes begin before the clock does
        self.clocked = self.clock()
        while self.share() < 1.0 and not self.stopped:
            self.advance(next(batches))
            self.look_where_due()
            if time.monotonic() - saved >= self.settings.save:
                self.save()
                saved = time.monotonic()
        self.save()

    def stop(self, *_: object) -> None:
        """Save after this step and end."""
        self.stopped = True

    def batches(self) -> Iterator[list[Example]]:
        """Endless batches from the place where the run is."""
        for drawn in chunks(self.numbered.shown(), self.chunk, self.share_at, self.settings.processes):
            rng = np.random.default_rng([self.settings.seed, self.chunk])
            every = by_length(drawn, self.settings.tokens, rng)
            while self.place < len(every):
                yield every[self.place]
            self.chunk, self.place = self.chunk + 1, 0

    def share_at(self, chunk: int) -> float:
        """The share of the run that has passed when a chunk is used, about: where steps are counted, known before."""
        if not self.settings.steps:
            return self.share()
        return min(1.0, chunk * self.numbered.chunk_tokens / (self.settings.steps * self.settings.tokens))

    def share(self) -> float:
        """The share of the run that has passed."""
        steps, minutes = self.settings.steps, self.settings.minutes
        return min(1.0, self.steps / steps if steps else self.elapsed / minutes)

    def advance(self, batch: list[Example]) -> None:
        """One step."""
        share = self.share()
        set_dropout(self.model, self.settings.dropout if share >= self.settings.dropout_from else 0.0)
        self.model.train()
        torch.manual_seed(self.settings.seed * 2**32 + self.steps)
        loss = self.step(batch, rate(share, self.steps, self.settings))
        self.place += 1
        self.steps += 1
        self.seen += len(batch)
        self.train_loss += (loss - self.train_loss) / min(self.steps, REMEMBERED)
        self.remember()
        now = self.clock()
        self.elapsed += (now - self.clocked) / 60
        self.clocked = now

    def remember(self) -> None:
        """Move the running mean of the weights; it looks back over a fixed share of the steps so far."""
        keep = math.exp(-1.0 / (1.0 + self.settings.average * self.steps))
        torch._foreach_lerp_(self.mean, [p.detach() for p in self.weights], 1.0 - keep)

    def look_where_due(self) -> None:
        """Save, then evaluate and keep the model, where that is due and was not done before the run was stopped."""
        due = bisect.bisect_right(self.kept, self.share())
        if due > self.looked:
            self.save()
            self.look()
            self.looked = due
            self.save()

    @property
    def folder(self) -> Path:
        """Folder of the model as it is now, one of its own for each moment."""
        return self.settings.out / f"moments/{self.steps:06d}"

    def progress(self) -> list[float]:
        """How far the run is, as numbers."""
        return [*super().progress(), self.chunk, self.place, self.train_loss, self.looked]

    def proceed(self, progress: Sequence[float]) -> None:
        """Go on from where `progress` was."""
        super().proceed(progress)
        self.chunk, self.place = map(int, progress[3:5])
        self.train_loss, self.looked = float(progress[5]), int(progress[6])
