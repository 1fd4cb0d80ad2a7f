"""A query over many single edges of a corpus."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from bartviz.corpus.find import find

EDGES = 10_000_000
PARTS = 10
QUERIES = ({"kind": "encoder", "layer": 1, "head": 2}, {"key": "punctuation", "where": "earlier", "least": 0.8})


def report(*, edges: int = EDGES, repeats: int = 5) -> None:
    print(f"\nFind: seconds of a query over {edges:,} random edges in {PARTS} files (median of {repeats})")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name in ("edges", "texts"):
            (folder / name).mkdir()
        for part in range(PARTS):
            write(folder, part, edges // PARTS)
        for fields in QUERIES:
            seconds = []
            for _ in range(repeats):
                started = time.perf_counter()
                count = find(folder, fields).count
                seconds.append(time.perf_counter() - started)
            print(f"  {fields}: {count:,} edges, {statistics.median(seconds):.3f} s", flush=True)


def write(folder: Path, part: int, edges: int) -> None:
    """A part with random edges of 2,048 texts."""
    generator = np.random.default_rng(part)
    first, tokens = part * 2_048, np.array([f"token{number}" for number in range(5_000)], object)
    columns: dict[str, object] = {
        "text": np.sort(generator.integers(first, first + 2_048, edges)),
        "kind": np.array(["encoder", "decoder", "cross"], object)[generator.integers(0, 3, edges)],
        "layer": generator.integers(0, 6, edges, dtype=np.int32),
        "head": generator.integers(0, 8, edges, dtype=np.int32),
    }
    for name in ("query", "key"):
        columns |= {
            name: generator.integers(0, 32, edges, dtype=np.int32),
            f"{name}_token": tokens[generator.integers(0, len(tokens), edges)],
            f"{name}_class": generator.integers(0, 16, edges, dtype=np.int8),
        }
    weights = generator.uniform(0.2, 1, edges).astype(np.float32)
    pd.DataFrame(columns | {"weight": weights}).to_parquet(folder / "edges" / f"{part:06d}.parquet", index=False)
    numbers = np.arange(first, first + 2_048)
    lines = {
        "number": numbers,
        "file": "texts.txt",
        "line": numbers + 1,
        "text": "A text.",
        "pair": None,
        "target": None,
    }
    pd.DataFrame(lines).to_parquet(folder / "texts" / f"{part:06d}.parquet", index=False)
