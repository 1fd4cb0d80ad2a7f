"""Which atlases the app shows, and what a damaged one does."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from bartviz.corpus import folders, shipped
from bartviz.corpus.atlas import open_atlas
from bartviz.errors import SettingError


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of two atlases and something else, named by the setting; one of them twice."""
    shutil.copytree(shipped.FOLDER / "bert-tiny-en", tmp_path / "mine")
    shutil.copytree(shipped.FOLDER / "bert-tiny-en", tmp_path / "bert-tiny-en")
    (tmp_path / "notes").mkdir()
    monkeypatch.setenv("BARTVIZ_ATLASES", f"{tmp_path}{os.pathsep}{tmp_path / 'mine'}")
    return tmp_path


def test_an_entry_is_an_atlas_or_a_folder_of_atlases(root: Path) -> None:
    again, renamed = f"{root.name}/mine", f"{root.name}/bert-tiny-en"
    assert folders.own() == {renamed: root / "bert-tiny-en", "mine": root / "mine", again: root / "mine"}
    assert folders.names() == (renamed, "mine", again, *shipped.NAMES)
    assert folders.atlas("mine").path == root / "mine"
    assert folders.atlas("bert-tiny-en") is shipped.atlas("bert-tiny-en")


def test_an_atlas_that_was_made_anew_is_read_anew(root: Path) -> None:
    before, version = folders.atlas("mine"), folders.version("mine")
    assert folders.atlas("mine") is before
    file = root / "mine" / "atlas.json"
    again = replace(before, description={**before.description, "texts": 7})
    again.save(root / "mine")
    os.utime(file, ns=(version + 1, version + 1))
    assert folders.version("mine") == version + 1
    assert folders.atlas("mine").description["texts"] == 7


@pytest.mark.parametrize("entry", ["no-such", "relative/folder", __file__])
def test_an_entry_that_is_no_folder_is_refused_by_its_number(
    entry: str, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BARTVIZ_ATLASES", f"{root}{os.pathsep}{entry}")
    with pytest.raises(SettingError, match="BARTVIZ_ATLASES: entry 2 is not"):
        folders.names()


def test_another_name_is_refused_with_the_choices(root: Path) -> None:
    with pytest.raises(SettingError, match=r"choose .*mine"):
        folders.atlas("../mine")


def test_a_damaged_table_is_named(root: Path) -> None:
    atlas = open_atlas(root / "mine")
    (root / "mine" / "heads.parquet").write_bytes(b"PAR1 no table PAR1")
    with pytest.raises(SettingError, match=r"heads\.parquet of the atlas mine cannot be read"):
        _ = atlas.heads


@pytest.mark.parametrize("text", ["[]", "{}", '{"format": 3}', "nothing"])
def test_a_damaged_description_is_refused(root: Path, text: str) -> None:
    (root / "mine" / "atlas.json").write_text(text)
    with pytest.raises(SettingError, match=r"damaged|There is no atlas"):
        open_atlas(root / "mine")


def test_an_atlas_of_another_version_is_refused(root: Path) -> None:
    file = root / "mine" / "atlas.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "format": 1}))
    with pytest.raises(SettingError, match="another version"):
        open_atlas(root / "mine")
