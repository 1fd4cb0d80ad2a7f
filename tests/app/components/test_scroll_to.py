"""A part of the page that is scrolled to, in JavaScript."""

from __future__ import annotations

from pathlib import Path

from tests.support import node


def test_what_keeps_a_part_in_its_place() -> None:
    node.run_tests(Path(__file__).with_name("scroll_to.test.mjs"))
