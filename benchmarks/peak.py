"""The memory that one pass takes at its peak: captured, plain with the fast kernel, and the peers' way (eager).

Each in a process of its own, which has run a short text before. Linux counts the peak.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import torch

from benchmarks.capture import copied, ours, theirs
from benchmarks.subjects import subject

NAME = "facebook/bart-base"
WAYS = {"captured": "ours: bartviz.capture", "plain": "plain, fast kernel", "eager": "peers: eager, weights returned"}


def report(folder: Path, *, n: int = 1024) -> None:
    subject(NAME, folder)  # saved once, opened by each process
    print(f"\nMemory of one pass at its peak, above that of the loaded model: {NAME}, n = {n:,} + {n:,}")
    for way, words in WAYS.items():
        command = [sys.executable, "-m", "benchmarks.peak", str(folder), way, str(n)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        print(f"  {words:32} {int(done.stdout.split()[-1]) / 1e6:8.0f} MB", flush=True)


def grown(folder: Path, way: str, n: int) -> int:
    """Bytes by which this process grows at most while the text runs."""
    model = subject(NAME, folder)
    if way == "captured":
        short, long = ours(model, 16), ours(model, n)
    else:
        network = copied(model, "eager" if way == "eager" else "sdpa")
        options = {"output_attentions": True} if way == "eager" else {}
        short, long = theirs(model, network, 16, **options), theirs(model, network, n, **options)
    short()
    Path("/proc/self/clear_refs").write_text("5", "utf-8")  # the peak counts from here on
    before = _status("VmRSS")
    kept = long()
    assert kept is not None
    return _status("VmHWM") - before


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(name))


if __name__ == "__main__":
    torch.set_num_threads(1)
    print(grown(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
