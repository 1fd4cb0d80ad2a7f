"""A style is in the folder of what it is about: deleted with a feature, and found beside it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bartviz.lazy import FEATURES
from scripts.layers import PACKAGE

NAMED = re.compile(r"st-key-([\w-]+)|\.(bv-[\w-]+)")  # the key of an element, a class


def room(file: Path) -> str:
    """The feature of a file; nothing for what several have."""
    return file.relative_to(FEATURES).parts[0] if FEATURES in file.parents else ""


@pytest.mark.slow  # not among the quick tests that scripts/without.py runs: of what two features show, one is left
def test_a_style_of_the_app_is_of_no_single_feature() -> None:
    """A name that ends in "_" is the beginning of others."""
    rooms: dict[str, set[str]] = {}
    for file in (file for ending in ("py", "js", "html") for file in PACKAGE.rglob(f"*.{ending}")):
        for word in set(re.findall(r"[\w-]+", file.read_text("utf-8"))):
            rooms.setdefault(word.removeprefix("st-key-"), set()).add(room(file))
    alone = {}
    for style in sorted((PACKAGE / "app").rglob("*.css")):
        for name in {key or css for key, css in NAMED.findall(style.read_text("utf-8"))}:
            words = [word for word in rooms if word.startswith(name)] if name.endswith("_") else [name]
            shown = set[str]().union(*(rooms.get(word, ()) for word in words))
            if len(shown) == 1 and shown != {""}:
                alone[f"{style.name}: {name}"] = shown.pop()
    assert alone == {}
