"""``python -m benchmarks [start] [memory] [capture] [decode] [payload] [drawing] [pages] [sessions]``: no word, all."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import torch

from benchmarks import capture, decode, drawing, memory, pages, payload, sessions


def main(words: list[str]) -> None:
    torch.set_num_threads(1)
    wanted = words or ["start", "memory", "capture", "decode", "payload", "drawing", "pages", "sessions"]
    with tempfile.TemporaryDirectory() as folder:
        if "start" in wanted:
            memory.report()
        if "memory" in wanted:
            memory.evicted(Path(folder) / "evicted")
        if "capture" in wanted:
            capture.report(Path(folder))
        if "decode" in wanted:
            decode.report(Path(folder))
        if "payload" in wanted:
            payload.report()
        if "drawing" in wanted:
            drawing.report()
        if "pages" in wanted:
            pages.report()
        if "sessions" in wanted:
            sessions.report()


if __name__ == "__main__":
    main(sys.argv[1:])
