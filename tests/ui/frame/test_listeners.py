"""Ctrl+Enter, as JavaScript decides it."""

from pathlib import Path

from tests.support import node


def test_who_ctrl_enter_belongs_to() -> None:
    node.run_tests(Path(__file__).with_name("keys.test.mjs"))
