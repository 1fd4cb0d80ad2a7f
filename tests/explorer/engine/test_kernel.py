"""The compiled product of matrices is what its source compiles to, and gives what the plain loop gives."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from scripts.node import JS
from tests.support import node


@pytest.mark.slow  # a run without the scripts' packages leaves it out
def test_the_kernel_is_what_its_source_compiles_to() -> None:
    assert (JS / "node_modules" / "wabt").is_dir(), "wabt is not installed: make test sets it up"
    command = [node.find_node(), "kernel.mjs", "--check"]
    done = subprocess.run(command, cwd=JS, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def test_the_kernel_multiplies_as_the_plain_loop_does() -> None:
    node.run_tests(Path(__file__).with_name("kernel.test.mjs"))
