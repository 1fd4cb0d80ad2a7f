"""The examples in the docstrings of the public functions, classes and figures: each has one, and it runs."""

from __future__ import annotations

import doctest
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bartviz
from bartviz import figures, lazy, paper
from bartviz.corpus import shipped
from tests.support import loaded, trained

PUBLIC = {
    f"{package.__name__}.{name}": getattr(package, name)
    for package in (bartviz, figures)
    for name in lazy.homes(str(package.__file__))
}
EXPLAINED = {name: thing for name, thing in PUBLIC.items() if callable(thing)} | {
    f"bartviz.paper.{name}": getattr(paper, name)
    for name in paper.__all__
    if ">>>" in str(getattr(paper, name).__doc__)
}


@cache
def shared() -> dict[str, Any]:
    """The names that examples use: those of the package's own docstring, with values, a record of a T5 and a GPT-2."""
    model = bartviz.load("bart-tiny-en-de")
    return {
        "bartviz": bartviz,
        "np": np,
        "model": model,
        "record": bartviz.capture(model, "I want to buy a car.", values=True),
        "gpt2": loaded.model("gpt2"),
        "t5": bartviz.capture(loaded.model("t5"), "I want to buy a car."),
    }


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory of an example, with the folders of two atlases."""
    for name in ("atlas", "other"):
        shutil.copytree(shipped.FOLDER / "bart-tiny-en-de", tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPLAINED)
def test_the_example_of_a_public_name_runs(name: str, folder: Path) -> None:
    (example,) = doctest.DocTestFinder(recurse=False).find(EXPLAINED[name], name, globs=shared())
    assert example.examples, "a public name has an example in its docstring"
    if any("run/step" in line.source for line in example.examples):
        trained.checkpoints(folder)
    said: list[str] = []
    failed, _ = doctest.DocTestRunner(verbose=False).run(example, out=said.append, clear_globs=False)
    assert not failed, "".join(said)
