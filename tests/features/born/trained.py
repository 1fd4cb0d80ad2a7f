"""A replay of a small network at three moments, made by the command, for the tests of the page."""

from __future__ import annotations

from pathlib import Path

from bartviz.corpus import replay
from bartviz.corpus.run_series import series
from tests.support import checkpoints

PAIRS = [
    (f"the {one} sat on the {two}", f"the {two} sat") for one in ("cat", "dog", "man") for two in ("mat", "dog", "cat")
]
STEPS = tuple(checkpoints.SCALES)


def replayed(folder: Path) -> Path:
    """The file of a replay in a new folder."""
    curves = {"loss": [(0.0, 9.5), (60.0, 5.0), (900.0, 2.25)], "BLEU": [(0.0, 0.0), (900.0, 20.0)]}
    series(PAIRS * 2, checkpoints.written(folder), folder / "series", curves=curves)
    return folder / "series" / replay.FILE
