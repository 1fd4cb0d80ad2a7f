"""``python -m benchmarks [start] [memory] [capture] [corpus] [decode] [payload] [drawing] [pages] [sessions]``.

Without a word, all of them.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import torch

from benchmarks import capture, corpus, decode, drawing, memory, pages, payload, sessions


def main(words: list[str]) -> None:
    torch.set_num_threads(1)
    wanted = words or ["start", "memory", "capture", "corpus", "decode", "payload", "drawing", "pages", "sessions"]
    with tempfile.TemporaryDirectory() as folder:
        if "start" in wanted:
            memory.report()
        if "memory" in wanted:
            memory.evicted(Path(folder) / "evicted")
        if "capture" in wanted:
            capture.report(Path(folder))
        if "corpus" in wanted:
            corpus.report()
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
