"""The recipes of CONTRIBUTING.md are followed in a copy of the tree, and their own commands run there."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pytest

from scripts import without

ROOT = Path(__file__).parent.parent
MODEL_TYPE = "xlm-roberta-xl"


class Change(NamedTuple):
    """A text for a file: a new file, the end of one that is there, or what takes the place of a ``part`` of it."""

    file: str
    part: str
    text: str


def changes(recipe: str) -> Iterator[Change]:
    """What the recipe is followed with: texts below lines like "=== file" or "=== file | instead of part"."""
    _nothing, *written = re.split(
        r"^=== ", (ROOT / f"tests/recipes/{recipe}.txt").read_text("utf-8"), flags=re.MULTILINE
    )
    for one in written:
        place, _end, text = one.partition("\n")
        file, _instead, part = place.partition(" | instead of ")
        yield Change(file, part, text.strip("\n") + "\n")


def follow(home: Path, recipe: str, *, left_out: str = "") -> None:
    """Write all of it to a tree, except for the file that is left out."""
    for file, part, text in changes(recipe):
        path = home / file
        before = path.read_text("utf-8") if path.exists() else ""
        assert part in before, f"{file} no longer has {part}"
        after = before.replace(part, text.strip(), 1) if part else f"{before}\n\n{text}" if before else text
        if file != left_out:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(after, "utf-8")


def command(recipe: str) -> list[str]:
    """What pytest runs at the end of the recipe."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    section = re.search(rf"^## Recipe: a [a-z ]*{recipe}\n(.*?)^## ", text, re.DOTALL | re.MULTILINE)
    assert section is not None
    *_steps, last = re.findall(r"`pytest ([^`]+)`", section[1])
    return shlex.split(last.replace("<model_type>", MODEL_TYPE))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    without.copy(tmp_path)
    return tmp_path


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.parametrize("recipe", ["view", "family", "measure"])
def test_a_recipe_followed_to_the_letter_passes_its_own_tests(home: Path, recipe: str) -> None:
    follow(home, recipe)
    assert without.run(home, "-q", *command(recipe)) == 0


@pytest.mark.thorough
@pytest.mark.slow
def test_a_corpus_has_the_new_measure_in_its_tables(home: Path) -> None:
    follow(home, "measure")
    (home / "lines.txt").write_text("The cat sleeps.\nA man is buying a car.\n", "utf-8")
    subprocess.run(
        [sys.executable, "-m", "bartviz", "corpus", "lines.txt", "--model", "bert-tiny-en", "--out", "atlas"],
        cwd=home,
        env=os.environ | {"PYTHONPATH": str(home)},
        check=True,
    )
    measured = pd.read_parquet(home / "atlas" / "heads.parquet").set_index("measure").loc["near"]
    assert measured["mean"].between(0, 1).all()
    assert measured["mean"].nunique() > 1
