"""Pictures and tables for a paper from the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest

import bartviz
from bartviz import paper
from bartviz.commands.cli import main


@pytest.mark.parametrize(
    ("words", "draw"),
    [
        ("--kind cross --layer 2 --head 1", lambda r: paper.map(r, "cross", 2, 1)),
        ("--layer 2 --words --reading reads", lambda r: paper.map(r, "cross", 2, words=True, reading="reads")),
        ("--picture lines --kind decoder --layer 0 --head 1 --row 2", lambda r: paper.lines(r, "decoder", 0, 1, row=2)),
        ("--picture text --layer 0 --head 1 --row 2", lambda r: paper.text(r, "cross", 0, 1, 2)),
        ("--picture ribbons --width 320", lambda r: paper.ribbons(r, width=320)),
        ("--picture alignment --layer 1 --head 2", lambda r: paper.alignment(r, ["cross L1H2"])),
        ("--picture rollout --kind decoder --layer 1", lambda r: paper.rollout(r, "decoder", 1)),
        ("--picture overview --kind encoder --no-caption", lambda r: paper.overview(r, "encoder", captioned=False)),
    ],
)
def test_export_draws_what_python_draws(words: str, draw: object, saved: str, tmp_path: Path) -> None:
    file = tmp_path / "picture.svg"
    assert main(["export", saved, str(file), *words.split()]) == 0
    ET.parse(file)
    assert file.read_text("utf-8") == draw(bartviz.open(saved)).svg  # type: ignore[operator]


def test_export_writes_pdf_png_and_a_table(saved: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, begin in (("a.pdf", b"%PDF"), ("a.png", b"\x89PNG"), ("a.tex", b"\\begin{table}")):
        assert main(["export", saved, str(tmp_path / name), "--ppi", "72", "--json"]) == 0
        assert (tmp_path / name).read_bytes().startswith(begin)
        assert json.loads(capsys.readouterr().out)["bytes"] == (tmp_path / name).stat().st_size
    assert "encoder" not in (tmp_path / "a.tex").read_text("utf-8")
    table = (tmp_path / "a.tex").read_text("utf-8")
    assert "entropy: bits" in table
    assert table.split("toprule")[1].split("\\\\")[0].count("&") <= 8  # columns that fit on a page
    assert main(["export", saved, str(tmp_path / "b.tex"), "--kind", "encoder", "--columns", "peak,next"]) == 0
    assert "head & name & score & peak & next" in (tmp_path / "b.tex").read_text("utf-8")
    assert re.search(r"\(\d+\.\d kB\)", capsys.readouterr().out)
    assert main(["export", saved, str(tmp_path / "b.tex"), "--columns", "weather"]) == 2


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("--layer 3 --head 0", "choose 0 to 2"),
        ("--head 1", "A head belongs to a layer"),
        ("--picture ribbons --layer 1", "Name both layer and head"),
        ("--picture alignment --kind encoder --layer 1 --head 1", "cross-attention"),
        ("--picture text --row 99", "no row 99"),
        ("--width 10", "120 to 1200"),
    ],
)
def test_what_cannot_be_drawn_is_one_sentence(
    words: str, why: str, saved: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", saved, str(tmp_path / "x.svg"), *words.split()]) == 2
    said = capsys.readouterr().err
    assert why in said
    assert said.count("\n") == 1
    assert not (tmp_path / "x.svg").exists()


def test_weights_are_written_as_numbers(saved: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record, table, arrays = bartviz.open(saved), tmp_path / "w.csv", tmp_path / "w.npz"
    assert main(["export", saved, str(table)]) == 0
    assert len(pd.read_csv(table)) == len(record.to_dataframe())
    assert main(["export", saved, str(table), "--head", "cross L2H1"]) == 0
    cells = pd.read_csv(table, keep_default_na=False)
    assert set(zip(cells.kind, cells.layer, cells["head"], strict=True)) == {("cross", 2, 1)}
    np.testing.assert_allclose(cells.weight, record.head("cross L2H1").ravel(), atol=1e-6)
    assert main(["export", saved, str(arrays), "--kind", "encoder", "--layer", "1"]) == 0
    with np.load(arrays) as found:
        assert list(found) == ["encoder"]
        np.testing.assert_array_equal(found["encoder"], record.to_numpy("encoder")["encoder"][1:2])
    capsys.readouterr()
    for words, why in (
        (["w.csv", "--layer", "1"], "Name the kind of attention"),
        (["w.csv", "--head", "cross L9H1"], "choose 0 to"),
        (["w.doc"], "ends in .html, .svg, .pdf, .png, .tex, .csv or .npz"),
        (["w.tex", "--measure", "entropy"], "--columns"),
    ):
        assert main(["export", saved, str(tmp_path / words[0]), *words[1:]]) == 2
        assert why in capsys.readouterr().err


def test_a_picture_is_of_one_record(saved: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["export", saved, saved, str(tmp_path / "x.svg")])
    assert "one record" in capsys.readouterr().err


def test_parameters_prints_a_table_for_latex(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parameters", "facebook/bart-base", "--latex"]) == 0
    out = capsys.readouterr().out
    assert out == paper.latex(paper.parameters("facebook/bart-base"), caption="facebook/bart-base")
