"""The command ``attribute``: what it prints, and the files that it writes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bartviz
from bartviz.analysis.attribution import Attribution
from bartviz.analysis.attribution_methods import METHODS
from bartviz.commands.attribute import NAMES, SUFFIXES
from bartviz.commands.cli import main

TEXT = "I want to buy a car."


@pytest.fixture(scope="module")
def found() -> Attribution:
    return bartviz.attribute(bartviz.load("bart-tiny-en-de"), TEXT, method="norms of weighted values")


@pytest.mark.slow
def test_it_prints_a_line_for_each_word_with_what_speaks_for_it_most(
    found: Attribution, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["attribute", TEXT, "--method", "norms-of-weighted-values"]) == 0
    said = capsys.readouterr()
    assert found.method.formula in said.err
    assert found.method.source in said.err
    words = found.words()
    lines = said.out.splitlines()
    assert [line.split()[1] for line in lines] == list(words.steps.labels)
    for line, row in zip(lines, words.values, strict=True):
        best = int(row.argmax())
        assert line.split()[2:4] == [words.source.labels[best], f"{row[best]:.2f},"]


@pytest.mark.slow
def test_json_has_every_number_and_one_step_keeps_its_place(
    found: Attribution, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["attribute", TEXT, "--method", "norms-of-weighted-values", "--tokens", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    np.testing.assert_allclose(said["values"], found.values, atol=1e-6)
    assert found.earlier_values is not None
    np.testing.assert_allclose(said["earlier_values"], found.earlier_values, atol=1e-6)
    assert said["source"] == list(found.source.labels)
    assert said["saved"] is None
    assert main(["attribute", TEXT, "--step", "3", "--contrast", " der"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert line.split()[:2] == ["3", found.steps.labels[3]]
    assert "+" in line


@pytest.mark.slow
def test_every_kind_of_file_is_written(found: Attribution, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for suffix in SUFFIXES:
        file = tmp_path / f"why{suffix}"
        assert main(["attribute", TEXT, "--method", "norms-of-weighted-values", "--save", str(file)]) == 0
        assert f"saved    {file}" in capsys.readouterr().out
    words = found.words()
    np.testing.assert_allclose(bartviz.open_attribution(tmp_path / "why.json").values, words.values, atol=1e-6)
    table = pd.read_csv(tmp_path / "why.csv", keep_default_na=False)
    np.testing.assert_allclose(table.value, words.to_dataframe().value, atol=1e-6)
    assert (tmp_path / "why.svg").read_text("utf-8") == bartviz.paper.attribution(words).svg
    starts = {".pdf": b"%PDF", ".png": b"\x89PNG", ".html": b"<!doctype html>"}
    for suffix, start in starts.items():
        assert (tmp_path / f"why{suffix}").read_bytes().startswith(start)


def test_every_method_has_a_name_without_spaces() -> None:
    assert all(" " not in name for name in NAMES)
    assert set(NAMES.values()) == set(METHODS)
