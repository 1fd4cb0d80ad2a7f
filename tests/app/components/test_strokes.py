"""Strokes that paint, in JavaScript."""

from pathlib import Path

import pytest

from tests.support import node


@pytest.mark.slow
def test_what_a_finger_paints() -> None:
    node.run_tests(Path(__file__).with_name("strokes.test.mjs"))
