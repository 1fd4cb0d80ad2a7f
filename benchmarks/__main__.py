"""``python -m benchmarks [part ...] [--quick] [--out FILE]``: measure, print, and keep what was measured.

Without a part all of them are measured and written to benchmarks/RESULTS.md. A part that is measured alone replaces its
section of the file that ``--out`` names.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from benchmarks import (
    alive,
    capture,
    corpus,
    decode,
    drawing,
    files,
    find,
    heads,
    load,
    memory,
    merge,
    pages,
    payload,
    peak,
    results,
    sessions,
    waits,
)


def parts(folder: Path, *, quick: bool) -> dict[str, Callable[[], object]]:
    """Every part by its name. ``quick``: short texts and few rounds, to see that they run; not to be compared."""
    if quick:
        return {
            "capture": lambda: capture.report(folder, lengths=(32,), seconds=1.0),
            "corpus": lambda: corpus.report(rows=64, seconds=1.0, sizes=(600, 700)),
            "heads": lambda: heads.report(rows=64, all_rows=256, seconds=1.0),
            "find": lambda: find.report(edges=100_000, repeats=1),
            "merge": lambda: merge.report(shards=20, shape=(2, 4)),
            "decode": lambda: decode.report(folder, lengths=(32,), seconds=1.0),
            "peak": lambda: peak.report(folder, n=32),
            "payload": lambda: payload.report(lengths=(16,), single=(16,), large=16, seconds=0.0),
            "files": lambda: files.report(folder, lengths=(16,), seconds=0.0),
            "alive": lambda: alive.report(folder, runs=2, large=False),
            "drawing": lambda: drawing.report(lengths=(64,)),
            "pages": lambda: pages.report(visits=1),
            "waits": lambda: waits.report(starts=1, rounds=1, heads=6),
            "sessions": lambda: sessions.report(passers=20),
        }
    return {
        "start": memory.report,
        "memory": lambda: memory.evicted(folder / "evicted"),
        "capture": lambda: capture.report(folder),
        "corpus": corpus.report,
        "heads": heads.report,
        "find": find.report,
        "merge": merge.report,
        "decode": lambda: decode.report(folder),
        "peak": lambda: peak.report(folder),
        "payload": payload.report,
        "files": lambda: files.report(folder),
        "alive": lambda: alive.report(folder),
        "drawing": drawing.report,
        "pages": pages.report,
        "waits": waits.report,
        "sessions": sessions.report,
        "load": lambda: load.report(("paced", "burst", "heavy", "slam"), 0),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--quick", action="store_true", help="short texts, few rounds")
    parser.add_argument("--out", type=Path, help="file to write (benchmarks/RESULTS.md for a whole run)")
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        known = parts(Path(folder), quick=given.quick)
        if unknown := set(given.parts) - set(known):
            parser.error(f"no part: {', '.join(sorted(unknown))}; choose from {', '.join(known)}")
        order = tuple(known) if given.parts else None
        whole = None if given.parts or given.quick else results.FILE
        results.write({name: known[name] for name in given.parts or known}, given.out or whole, order=order)


if __name__ == "__main__":
    main()
