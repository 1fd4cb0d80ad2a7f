"""A corpus measured against plain forward passes over the same sorted batches, in CPU time; what two workers do in a
second against passes with as many threads; and the memory of a run, which does not grow with the corpus."""

from __future__ import annotations

import copy
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

import bartviz
from bartviz.corpus.encode import Encoded, encode
from bartviz.corpus.measure import batches, forward, measure, padded
from bartviz.corpus.read import Columns, Line
from bartviz.corpus.run import corpus
from bartviz.corpus.run_folder import Job
from bartviz.corpus.run_series import series
from bartviz.corpus.work import measured
from bartviz.corpus.workers import Progress
from bartviz.experiments.similar_tokens import words
from bartviz.families.catalogue import EMBEDDED
from bartviz.models.model import Model
from benchmarks.pairs import paired

MODELS = ("bart-tiny-en-de", "bert-tiny-en")
ROWS = 2_048
MEMORY = (5_000, 20_000)  # rows of the runs whose memory is compared
WORKERS = 2
PARTS = 8  # of the runs by several workers
CHECKPOINTS = 10


def report(*, rows: int = ROWS, seconds: float = 20.0, sizes: tuple[int, int] = MEMORY) -> None:
    print(f"\nCorpus: CPU time of {rows:,} sorted texts / plain passes over the same batches (fast kernel)")
    for name in MODELS:
        model = bartviz.load(name)
        job = Job(0, tuple(lines(model, rows)), ())
        encoded = [encode(model, line) for line in job.lines]
        parts = [[encoded[index] for index in batch] for batch in batches(encoded)]
        whole, stacks = plain(model, parts, whole=True), plain(model, parts, whole=False)
        print(f"  {name:16} measures, by passes as captured    {paired(ours(model, parts), whole, seconds=seconds)}")
        print(f"  {name:16} measures, by passes of the stacks  {paired(ours(model, parts), stacks, seconds=seconds)}")
        everything = paired(lambda: measured(model, job), whole, seconds=seconds)  # noqa: B023
        print(f"  {name:16} all, tokens and sums included      {everything}", flush=True)
    print(f"Lines in a second of the clock: {WORKERS} workers / plain passes with {WORKERS} threads")
    for name in MODELS:
        print(f"  {name:16} {together(name, PARTS * rows):6.0f}   {threaded(name, rows):6.0f}", flush=True)
    print(f"A series of {CHECKPOINTS} checkpoints of bart-tiny-en-de, {rows:,} lines each")
    clock, busy = of_checkpoints(rows)
    print(f"  {clock:6.0f} s of the clock, {busy:.0f} s of CPU time", flush=True)
    print("Highest resident memory of a run (a process of its own), bert-tiny-en")
    for size in sizes:
        command = [sys.executable, "-m", "benchmarks.corpus", str(size)]
        print(
            f"  {size:6,} lines  " + subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout,
            end="",
        )


def together(name: str, rows: int) -> float:
    """The rate of a run by several workers, from its first parts on."""
    seen: list[Progress] = []
    _run(name, rows, workers=WORKERS, size=rows // PARTS, report=seen.append)
    begun = seen[WORKERS - 1]
    fresh, seconds = seen[-1].fresh - begun.fresh, seen[-1].seconds - begun.seconds
    return fresh / seconds


def of_checkpoints(rows: int) -> tuple[float, float]:
    """Seconds of the clock and of CPU time for a series, from the first checkpoint's file to the last table."""
    model = bartviz.load("bart-tiny-en-de")
    pairs = [(line.text, line.target or "") for line in lines(model, rows)]
    with tempfile.TemporaryDirectory() as folder:
        taken = [Path(folder) / f"step-{step}" for step in range(CHECKPOINTS)]
        for path in taken:
            shutil.copytree(EMBEDDED / "bart-tiny-en-de", path)
        clock, busy = time.monotonic(), time.process_time()
        series(pairs, taken, Path(folder) / "series")
        return time.monotonic() - clock, time.process_time() - busy


def threaded(name: str, rows: int) -> float:
    """The rate of plain passes, output layer included, with several threads; from the second time on."""
    model = bartviz.load(name)
    encoded = [encode(model, line) for line in lines(model, rows)]
    passes = plain(model, [[encoded[index] for index in batch] for batch in batches(encoded)], whole=True)
    before = torch.get_num_threads()
    torch.set_num_threads(WORKERS)
    passes()
    started = time.monotonic()
    passes()
    torch.set_num_threads(before)
    return rows / (time.monotonic() - started)


def _run(name: str, rows: int, *, workers: int = 1, size: int = ROWS, report: Callable[[Progress], None]) -> None:
    made = lines(bartviz.load(name), rows)
    columns = Columns("text", target="target" if made[0].target else None)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lines.tsv"
        path.write_text("text\ttarget\n" + "".join(f"{line.text}\t{line.target}\n" for line in made), "utf-8")
        corpus(path, name, Path(folder) / "atlas", columns=columns, workers=workers, size=size, report=report)


def _memory(rows: int) -> None:
    torch.set_num_threads(1)
    _run("bert-tiny-en", rows, report=lambda _progress: None)
    print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:6.0f} MB")


def lines(model: Model, rows: int) -> list[Line]:
    """Texts of 3 to 16 words, and for an encoder-decoder others as their targets."""
    known = np.array(sorted(words()))
    generator = np.random.default_rng(0)

    def text() -> str:
        return " ".join(generator.choice(known, generator.integers(3, 17)).tolist()) + "."

    both = model.info.kind == "encoder-decoder"
    return [Line(number, "words.txt", number + 1, text(), None, text() if both else None) for number in range(rows)]


def ours(model: Model, parts: list[list[Encoded]]) -> Callable[[], object]:
    return lambda: [measure(model, part) for part in parts]


def plain(model: Model, parts: list[list[Encoded]], *, whole: bool) -> Callable[[], object]:
    """The passes alone, by the fast kernel; ``whole``: with the output layer."""
    network = copy.deepcopy(model.network)
    network.set_attn_implementation("sdpa")
    inputs = [padded(model, part) for part in parts]

    if not whole or model.info.kind == "encoder":  # as in ``bartviz.capture``
        network = network.base_model

    @torch.inference_mode()
    def passes() -> None:
        for source, read, _ in inputs:
            forward(model, network, source, read)

    return passes


if __name__ == "__main__":
    _memory(int(sys.argv[1]))
