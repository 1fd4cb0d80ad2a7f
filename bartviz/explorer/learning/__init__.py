"""A small encoder-decoder that learns in the browser, in JavaScript alone: operations, tasks, training, worker."""

from pathlib import Path

WORKER = Path(__file__).parent / "worker.js"
