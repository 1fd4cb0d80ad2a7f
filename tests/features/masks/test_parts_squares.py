"""The arithmetic of the squares in the browser."""

from __future__ import annotations

from pathlib import Path

from tests.support import node


def test_the_arithmetic_of_the_browser() -> None:
    node.run_tests(Path(__file__).with_name("squares.test.mjs"))
