"""Checkpoints of a training that never was: the same small BART with weaker queries at first, so that maps sharpen."""

from __future__ import annotations

import copy
import shutil
from collections.abc import Mapping
from pathlib import Path

import torch

from tests.support import loaded

SCALES: Mapping[int, float] = {0: 0.01, 60: 0.5, 900: 1.0}  # step: what the queries are multiplied by


def written(folder: Path, scales: Mapping[int, float] = SCALES) -> list[Path]:
    """The folders of the checkpoints, in the order of their steps."""
    loaded.model("bart")
    folders = [folder / f"checkpoint-{step}" for step in scales]
    for checkpoint, scale in zip(folders, scales.values(), strict=True):
        network = copy.deepcopy(loaded.reference("bart"))  # other tests share that one
        shutil.copytree(loaded.folder() / "bart-0", checkpoint)
        with torch.no_grad():
            for name, weights in network.named_parameters():
                if "q_proj" in name:
                    weights.mul_(scale)
        network.save_pretrained(checkpoint)
    return folders
