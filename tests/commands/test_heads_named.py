"""A head is written in one way, which every command that takes one accepts."""

from __future__ import annotations

from pathlib import Path

import pytest

import bartviz
from bartviz.commands.cli import main
from bartviz.corpus import shipped
from bartviz.corpus.find import with_head
from bartviz.errors import SettingError
from bartviz.record.attention import KINDS, Head, Kind
from tests.support import loaded

CROSS: tuple[Kind, ...] = ("cross",)


@pytest.mark.parametrize("name", ["cross L2H5", "CROSS l2h5", " cross  L2H5 "])
def test_a_name_with_its_kind_is_read_everywhere(name: str) -> None:
    assert Head.parse(name) == Head.parse(name, kinds=CROSS) == Head("cross", 2, 5)


def test_without_the_kind_it_is_read_where_there_is_one() -> None:
    assert Head.parse("l2h5", kinds=("encoder",)) == Head("encoder", 2, 5)
    with pytest.raises(SettingError, match=r'L2H5 can be .* write "encoder L2H5" or "cross L2H5"'):
        Head.parse("L2H5", kinds=("encoder", "cross"))


@pytest.mark.parametrize(
    "name", ["", "L2", "cross 2 5", "cross L٢H5", "crossL2H5", "L2H5 cross", "L99999999999H0", "x"]
)
@pytest.mark.parametrize("kinds", [KINDS, CROSS])
def test_anything_else_is_refused(name: str, kinds: tuple[Kind, ...]) -> None:
    with pytest.raises(SettingError, match='A head is written as "cross L2H5"'):
        Head.parse(name, kinds=kinds)


def test_align_reads_both_forms_alike(saved: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = []
    for name in ("L2H1", "cross L2H1", "Cross l2h1"):
        assert main(["align", saved, "--heads", name]) == 0
        said.append(capsys.readouterr())
    assert said[0] == said[1] == said[2]
    assert main(["align", saved, "--heads", "encoder L2H1"]) == 2
    assert "Only heads of cross-attention" in capsys.readouterr().err


def test_export_reads_a_name_beside_numbers(saved: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    drawn = []
    for words in (["--kind", "cross", "--layer", "2", "--head", "1"], ["--head", "cross L2H1"]):
        assert main(["export", saved, str(tmp_path / "head.svg"), *words]) == 0
        drawn.append((tmp_path / "head.svg").read_bytes())
    assert drawn[0] == drawn[1]
    for words in (["--head", "L2H1"], ["--head", "cross L2H1", "--layer", "1"], ["--head", "two"]):
        assert main(["export", saved, str(tmp_path / "head.svg"), *words]) == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_passport_reads_it_where_the_model_has_one_kind(tmp_path: Path) -> None:
    atlas, page = str(shipped.FOLDER / "bert-tiny-en"), tmp_path / "head.html"
    assert main(["passport", atlas, "l1h2", str(page)]) == 0
    assert "L1H2" in page.read_text("utf-8")


def test_find_reads_it_as_one_field() -> None:
    wanted = {"key": ",", "kind": "cross", "layer": 2, "head": 5}
    written: list[dict[str, object]] = [
        {"head": "cross L2H5"},
        {"head": "L2H5", "kind": "cross"},
        {"head": Head("cross", 2, 5)},
    ]
    for fields in written:
        assert with_head({"key": ",", **fields}, KINDS) == wanted
    assert with_head({"head": "5"}, KINDS) == {"head": "5"}
    others: tuple[dict[str, object], ...] = ({"kind": "encoder"}, {"layer": 2})
    for more in others:
        with pytest.raises(SettingError, match="leave out those fields"):
            with_head({"head": "cross L2H5", **more}, KINDS)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["query=cat", "limit=3"], "--limit 3"),
        (["query=cat", "self=1"], "There is no field self"),
        (["query=cat", "path=x", "fields=y"], "There is no field fields, path"),
        (["layer=0", "layer=1"], "layer is given twice"),
        (["cat"], "FIELD=VALUE"),
        (["=cat"], "There is no field"),
    ],
)
def test_fields_that_cannot_be_are_refused_in_one_line(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["find", str(shipped.FOLDER / "bert-tiny-en"), *words]) == 2
    printed = capsys.readouterr().err
    assert said in printed
    assert printed.count("\n") == 1


@pytest.mark.slow
def test_a_model_of_one_kind_needs_no_kind() -> None:
    model = loaded.model("bert")
    one, other = (bartviz.capture(model, "the cat", ablate=name) for name in ("L0H1", "encoder L0H1"))
    assert one.provenance.settings == other.provenance.settings
    with pytest.raises(SettingError, match="several kinds"):
        bartviz.capture(loaded.model("bart"), "the cat", ablate="L0H1")
