"""Tests of the scripts: ``node --test``, run from a test beside them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from scripts import node


def find_node() -> str:
    """Where node is; the test fails where it is not installed."""
    found = node.find_node()
    if found is None:
        pytest.fail("node is not installed: make test sets it up")
    return found


def run_tests(file: Path, **environment: str) -> None:
    """Run the tests of a ``.test.mjs`` file. Fails with their output where one fails, and where there is none."""
    done = subprocess.run(
        [find_node(), "--test", "--test-reporter=tap", str(file)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "# pass 0" not in done.stdout
