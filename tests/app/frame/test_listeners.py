"""Keys and touches, as JavaScript decides on them."""

from pathlib import Path

from tests.support import node


def test_who_ctrl_enter_belongs_to_and_which_touches_are_the_browsers() -> None:
    node.run_tests(Path(__file__).with_name("listeners.test.mjs"))
