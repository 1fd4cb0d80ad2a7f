"""The words of records: saved words do not change, and every module uses one list."""

from __future__ import annotations

import ast
from typing import get_args

import pytest

from bartviz.record import vocabulary
from scripts.layers import PACKAGE, files

HOME = PACKAGE / "record" / "vocabulary.py"
PHRASES = {*vocabulary.MODES, *vocabulary.STOPS, *vocabulary.RULES, *vocabulary.COUNTED, vocabulary.BRANCHED_AT}
# A single word may also be a search of the sidebar or the name of a setting: it is looked for only where it is a mode.
HELD = {phrase for phrase in PHRASES if " " in phrase or "_" in phrase}


def literals(tree: ast.AST) -> set[str]:
    """The string constants of a module, docstrings and all."""
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def modes_spelled_out(tree: ast.AST) -> list[int]:
    """Lines that compare a mode with a literal, or put a literal under "mode" in a run's settings."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and getattr(node.left, "attr", getattr(node.left, "id", "")) == "mode":
            sides = [side.value for side in node.comparators if isinstance(side, ast.Constant)]
            found += [node.lineno for side in sides if side in vocabulary.MODES]
        if isinstance(node, ast.Dict):
            pairs = [(getattr(key, "value", None), value) for key, value in zip(node.keys, node.values, strict=True)]
            values = [ast.unparse(value) for key, value in pairs if key == "mode"]
            found += [node.lineno for value in values if any(f"'{mode}'" in value for mode in vocabulary.MODES)]
    return found


def test_saved_files_keep_their_words() -> None:
    assert set(get_args(vocabulary.Mode)) == vocabulary.MODES
    assert set(get_args(vocabulary.Stop)) == vocabulary.STOPS
    assert {
        "greedy",
        "beam search",
        "sampling",
        "one pass",
        "given target",
        "ablated",
        "edited",
        "given weights",
    } == vocabulary.MODES
    assert {"end token", "length limit"} == vocabulary.STOPS
    assert {"chosen by you", "kept from the first text"} == vocabulary.BY_USER
    assert {"forced first token", "forced end token"} == vocabulary.FORCED
    assert vocabulary.BRANCHED_AT == "branched_at"


def test_the_home_holds_every_phrase() -> None:
    assert literals(ast.parse(HOME.read_bytes())) >= HELD


@pytest.mark.slow
def test_no_other_module_spells_a_phrase_out() -> None:
    found = {}
    for path in files():
        text = path.read_text("utf-8")
        if path == HOME or not any(phrase in text for phrase in (*HELD, "mode")):
            continue
        tree = ast.parse(text)
        if said := [*(literals(tree) & HELD), *modes_spelled_out(tree)]:
            found[path.name] = said
    assert not found
