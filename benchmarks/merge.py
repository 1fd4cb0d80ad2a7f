"""The shards of a large corpus added up by one process, as the end of a run does it: seconds and resident memory."""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from bartviz.corpus.batch_measures import names_of
from bartviz.corpus.run_folder import Shard
from bartviz.corpus.sums import Partial, merged
from bartviz.record.attention import Kind

SHARDS = 2_000
DISTINCT = 16  # files that are written, and read again and again
TEXTS = 64  # of a shard: its size on disk does not depend on them
SHAPE = (12, 12)  # layers and heads of BERT-base
KIND: Kind = "encoder"


def report(*, shards: int = SHARDS, shape: tuple[int, int] = SHAPE) -> None:
    print(f"\nMerge: {shards:,} shards of {shape[0]} layers with {shape[1]} heads each, read and added up in order")
    with tempfile.TemporaryDirectory() as scratch:
        files = [Path(scratch) / f"{number}.npz" for number in range(DISTINCT)]
        for number, file in enumerate(files):
            file.write_bytes(synthetic(number, shape).pack())
        sums: dict[Kind, Partial] = {}
        started, cpu, before = time.perf_counter(), time.process_time(), _resident()
        for number in range(shards):
            sums = merged([sums, Shard.unpack(files[number % DISTINCT].read_bytes()).sums])
        seconds, spent = time.perf_counter() - started, time.process_time() - cpu
        size = sum(file.stat().st_size for file in files) / DISTINCT
        assert int(sums[KIND].count.max()) == shards * TEXTS
    print(
        f"  {size / 1e6:.2f} MB a shard, {seconds:.1f} s ({spent:.1f} s of CPU), {1e3 * spent / shards:.1f} ms a shard"
    )
    print(f"  resident memory at most {before:.0f} MB before, {_resident():.0f} MB after", flush=True)


def synthetic(number: int, shape: tuple[int, int]) -> Shard:
    """A shard of random values."""
    generator = np.random.default_rng(number)
    names = names_of(KIND)
    values = generator.uniform(0, 1, (TEXTS, *shape, len(names))).astype(np.float32)
    even = generator.uniform(0, 1, (TEXTS, len(names))).astype(np.float32)
    texts = np.arange(number * TEXTS, (number + 1) * TEXTS)
    return Shard({KIND: Partial.of(KIND, names, values, even, texts)}, TEXTS)


def _resident() -> float:
    """MB that the process has held at most."""
    unit = 1 if sys.platform == "darwin" else 1_024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
