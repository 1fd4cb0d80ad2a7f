"""The checkpoints of a training, as documents and examples name them."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.support import loaded


def checkpoints(folder: Path) -> None:
    """Two checkpoints in the folder ``run``: of a small model that stays as it is."""
    loaded.model("bart")
    for step in (0, 100):
        shutil.copytree(loaded.folder() / "bart-0", folder / f"run/step-{step}")
