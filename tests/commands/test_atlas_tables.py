"""``bartviz export``: the tables of an atlas as CSV and for LaTeX, and its pictures."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from bartviz import paper
from bartviz.commands.cli import main
from bartviz.corpus import shipped

ATLAS, OTHER = (str(shipped.FOLDER / name) for name in ("bert-tiny-en", "bart-tiny-denoise"))
PAIR = str(shipped.FOLDER / "bart-tiny-en-de")


def test_every_table_is_what_the_library_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    atlas, file = shipped.atlas("bert-tiny-en"), tmp_path / "table.csv"
    for name in ("heads", "roles", "bad", "relations"):
        assert main(["export", ATLAS, str(file), "--table", name]) == 0
        read = pd.read_csv(io.StringIO(file.read_text("utf-8")))
        assert_frame_equal(read, getattr(atlas, name), check_dtype=False)
    assert main(["export", ATLAS, str(file), "--against", ATLAS, "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["bytes"] == file.stat().st_size
    assert (pd.read_csv(file)["difference"] == 0).all()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["heads.html"], "ends in .csv, .tex, .svg"),
        (["heads.svg", "--by", "entropy", "--against", OTHER], "Choose --by"),
        (["heads.svg", "--measure", "weather"], "The measure is one of"),
        (["heads.csv", "--table", "stability"], "Stability needs 10 parts"),
        (["heads.csv", "--against", "no-such-folder"], "no atlas in no-such-folder"),
    ],
)
def test_what_cannot_be_written_is_refused(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", ATLAS, str(tmp_path / words[0]), *words[1:]]) == 2
    assert said in capsys.readouterr().err
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "draw"),
    [
        (["--measure", "entropy", "--kind", "encoder"], lambda a, _b: paper.atlas(a, "entropy", "encoder")),
        (["--by", "entropy", "--width", "300"], lambda a, _b: paper.scatter(a, "entropy", "previous", width=300)),
        (["--against", OTHER, "--no-caption"], lambda a, b: paper.atlas_pair(a, b, "previous", captioned=False)),
    ],
)
def test_a_picture_is_what_python_draws(words: list[str], draw: Callable[..., paper.Picture], tmp_path: Path) -> None:
    file = tmp_path / "heads.svg"
    assert main(["export", PAIR, str(file), *words]) == 0
    expected = draw(shipped.atlas("bart-tiny-en-de"), shipped.atlas("bart-tiny-denoise"))
    assert file.read_text("utf-8") == expected.svg


def test_a_table_for_latex_has_chosen_measures_or_columns(tmp_path: Path) -> None:
    atlas, file = shipped.atlas("bert-tiny-en"), tmp_path / "heads.tex"
    assert main(["export", ATLAS, str(file), "--measure", "previous,entropy"]) == 0
    written = file.read_text("utf-8")
    assert "head & previous & entropy" in written
    assert "bert-tiny-en, over" in written
    assert main(["export", ATLAS, str(file), "--table", "roles", "--columns", "head,role,mean"]) == 0
    assert file.read_text("utf-8") == paper.latex(paper.rounded(atlas.roles), columns=["head", "role", "mean"])
    assert main(["export", ATLAS, str(file), "--columns", "weather"]) == 2
