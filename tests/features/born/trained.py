"""A replay of a small network at three moments, made by the command, for the tests of the page."""

from __future__ import annotations

import shutil
from pathlib import Path

import torch

from bartviz.corpus import replay
from bartviz.corpus.run_series import series
from tests.support import loaded

PAIRS = [
    (f"the {one} sat on the {two}", f"the {two} sat") for one in ("cat", "dog", "man") for two in ("mat", "dog", "cat")
]
STEPS = (0, 60, 900)
SCALES = (0.01, 0.5, 1.0)  # of the queries: the maps become sharper


def replayed(folder: Path) -> Path:
    """The file of a replay in a new folder."""
    loaded.model("bart")
    for step, scale in zip(STEPS, SCALES, strict=True):
        checkpoint, network = folder / f"checkpoint-{step}", loaded.reference("bart")
        shutil.copytree(loaded.folder() / "bart-0", checkpoint)
        queries = [weights for name, weights in network.named_parameters() if "q_proj" in name]
        with torch.no_grad():
            for weights in queries:
                weights.mul_(scale)
            network.save_pretrained(checkpoint)
            for weights in queries:
                weights.div_(scale)
    curves = {"loss": [(0.0, 9.5), (60.0, 5.0), (900.0, 2.25)], "BLEU": [(0.0, 0.0), (900.0, 20.0)]}
    series(PAIRS * 2, [folder / f"checkpoint-{step}" for step in STEPS], folder / "series", curves=curves)
    return folder / "series" / replay.FILE
