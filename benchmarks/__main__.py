"""``python -m benchmarks [capture] [decode] [start]``: print the table of ratios; without a word, all of it."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import torch

from benchmarks import capture, decode, memory


def main(words: list[str]) -> None:
    torch.set_num_threads(1)
    wanted = words or ["start", "capture", "decode"]
    with tempfile.TemporaryDirectory() as folder:
        if "start" in wanted:
            memory.report()
        if "capture" in wanted:
            capture.report(Path(folder))
        if "decode" in wanted:
            decode.report(Path(folder))


if __name__ == "__main__":
    main(sys.argv[1:])
