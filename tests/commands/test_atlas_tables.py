"""``bartviz export``: the tables of an atlas as CSV."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from bartviz.commands.cli import main
from bartviz.corpus import shipped

ATLAS = str(shipped.FOLDER / "bert-tiny-en")


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
        (["heads.svg"], "ends in .csv"),
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
