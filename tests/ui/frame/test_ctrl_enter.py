"""Ctrl+Enter, as JavaScript decides it."""

import shutil
import subprocess
from pathlib import Path

import pytest


def test_who_ctrl_enter_belongs_to() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    done = subprocess.run(
        [node, "--test", "--test-reporter=tap", str(Path(__file__).with_name("keys.test.mjs"))],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "# pass 0" not in done.stdout
