"""NumPy gets one thread of its own in the app, said before it is imported; what the owner of the server says counts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import os, sys
import bartviz.ui
print(os.environ["OPENBLAS_NUM_THREADS"], "numpy" in sys.modules)
"""


@pytest.mark.parametrize(("said", "expected"), [(None, "1"), ("3", "3")])
def test_numpy_is_told_before_it_comes(said: str | None, expected: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    if said is not None:
        environment["OPENBLAS_NUM_THREADS"] = said
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, env=environment,
        cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert done.stdout.split() == [expected, "False"]
