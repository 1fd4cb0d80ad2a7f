"""Scripts that run in a Python process of their own: what it imports, how much memory it takes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]


def printed(script: str, environment: Mapping[str, str] = os.environ) -> str:
    """What the script prints. It runs in the folder of the repository; fails with its errors if it fails."""
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=ROOT,
        env=dict(environment),
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
