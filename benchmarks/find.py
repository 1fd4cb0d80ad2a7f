"""A query over many single edges of a corpus."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bartviz.corpus.edges import edges_file
from bartviz.corpus.find import find
from bartviz.record.attention import KINDS

EDGES = 40_000_000
OF_A_PART = 500_000  # edges: about those that the small BERT has above 0.2 in a part of sentences
TEXTS = 2_048
TOKENS = 32
QUERIES = (
    {"kind": "encoder", "layer": 1, "head": 2},
    {"key": "punctuation", "where": "earlier", "least": 0.8},
    {"key": "token77"},
    {"query": "capitalised", "where": "later"},
    {"where": -1, "least": 0.5},
    {"same": True, "least": 0.4},
)


def report(*, edges: int = EDGES, repeats: int = 5) -> None:
    parts = max(1, edges // OF_A_PART)
    print(f"\nFind: seconds of a query over {edges:,} random edges in {parts} files (median of {repeats})")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name in ("edges", "texts"):
            (folder / name).mkdir()
        for part in range(parts):
            write(folder, part, edges // parts)
        for fields in QUERIES:
            seconds = []
            for _ in range(repeats):
                started = time.perf_counter()
                count = find(folder, fields).count
                seconds.append(time.perf_counter() - started)
            print(f"  {fields}: {count:,} edges, {statistics.median(seconds):.3f} s", flush=True)


def write(folder: Path, part: int, edges: int) -> None:
    """A part with random edges of 2,048 texts of 32 tokens on each side."""
    generator = np.random.default_rng(part)
    first, labels = part * TEXTS, np.array([f"token{number}" for number in range(5_000)], object)
    codes = generator.integers(0, len(labels), (TEXTS, TOKENS), dtype=np.int32)
    text = generator.integers(0, TEXTS, edges)
    columns: dict[str, NDArray[Any]] = {
        "kind": generator.integers(0, len(KINDS), edges, dtype=np.int8),
        "layer": generator.integers(0, 6, edges, dtype=np.int16),
        "head": generator.integers(0, 8, edges, dtype=np.int16),
        "text": text + first,
        "weight": generator.uniform(0.2, 1, edges).astype(np.float32),
    }
    for name in ("query", "key"):
        columns[name] = generator.integers(0, TOKENS, edges, dtype=np.int32)
        columns[f"{name}_token"] = codes[text, columns[name]]
        columns[f"{name}_class"] = generator.integers(0, 16, edges, dtype=np.int8)
    (folder / "edges" / f"{part:06d}.parquet").write_bytes(edges_file(columns, labels))
    tokens = labels[codes].tolist()
    numbers = np.arange(first, first + TEXTS)
    lines = {
        "number": numbers,
        "file": "texts.txt",
        "line": numbers + 1,
        "text": "A text.",
        "pair": None,
        "target": None,
        "source": tokens,
        "inputs": tokens,
        "output": tokens,
    }
    pd.DataFrame(lines).to_parquet(folder / "texts" / f"{part:06d}.parquet", index=False)
