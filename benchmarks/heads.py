"""A search for the heads that follow a pattern, against plain forward passes over the same sorted batches, in CPU time;
and the seconds that two workers need for many pairs."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import bartviz
from bartviz.corpus.encode import encode
from bartviz.corpus.find_heads import find_heads
from bartviz.corpus.measure import batches
from bartviz.corpus.read import Columns
from benchmarks.corpus import lines, plain
from benchmarks.pairs import paired

MODEL = "bart-tiny-en-de"
PATTERNS = ("from any to previous token", "from word to same word")
ROWS, ALL = 2_048, 10_000
WORKERS = 2


def report(*, rows: int = ROWS, all_rows: int = ALL, seconds: float = 20.0) -> None:
    print(f"\nHeads: CPU time of a search over {rows:,} pairs, tokens and tests included / plain passes (fast kernel)")
    model = bartviz.load(MODEL)
    made = lines(model, rows)
    encoded = [encode(model, line) for line in made]
    parts = [[encoded[index] for index in batch] for batch in batches(encoded)]
    pairs = [(line.text, str(line.target)) for line in made]
    whole, stacks = plain(model, parts, whole=True), plain(model, parts, whole=False)
    for pattern in PATTERNS:
        for name, passes in (("as captured", whole), ("of the stacks", stacks)):
            ratio = paired(lambda: find_heads(model, pairs, pattern), passes, seconds=seconds)  # noqa: B023
            print(f"  {pattern:28} by passes {name:13} {ratio}", flush=True)
    print(f"Seconds of the clock for {all_rows:,} pairs with {WORKERS} workers, their start included")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.tsv"
        rows_of_file = (f"{line.text}\t{line.target}\n" for line in lines(model, all_rows))
        path.write_text("text\ttarget\n" + "".join(rows_of_file), "utf-8")
        started = time.monotonic()
        find_heads(MODEL, path, PATTERNS[0], columns=Columns("text", target="target"), workers=WORKERS)
        print(f"  {PATTERNS[0]:28} {time.monotonic() - started:6.1f} s", flush=True)
