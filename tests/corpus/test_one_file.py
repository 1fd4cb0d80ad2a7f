"""An atlas as one file: packed, opened again, and refused where it is damaged, changed or too large."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pandas as pd
import pytest

import bartviz
from bartviz.corpus import one_file, schema, shipped
from bartviz.errors import SettingError

NAME = "bert-tiny-en"


@pytest.fixture(scope="module")
def data() -> bytes:
    return one_file.pack(shipped.atlas(NAME))


def again(data: bytes, change: Callable[[dict[str, bytes]], object], *, folder: str = "") -> bytes:
    """The file, with its parts changed in place."""
    with ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    change(parts)
    file = io.BytesIO()
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(folder + name, part)
    return file.getvalue()


def test_what_was_packed_is_opened_with_every_table(data: bytes, tmp_path: Path) -> None:
    first, opened = shipped.atlas(NAME), one_file.unpack(data, "own.zip")
    assert opened.description == first.description
    for name in schema.TABLES:
        pd.testing.assert_frame_equal(opened._table(name), first._table(name))
    (tmp_path / "own.zip").write_bytes(data)
    pd.testing.assert_frame_equal(bartviz.open_atlas(tmp_path / "own.zip").heads, first.heads)


def test_a_folder_packed_by_hand_is_opened(data: bytes) -> None:
    packed = again(data, lambda parts: parts.update({"run.json": b"{}"}), folder="atlas/")
    assert len(one_file.unpack(packed, "own.zip").heads) == len(shipped.atlas(NAME).heads)


def test_an_atlas_of_this_process_is_packed_too(data: bytes) -> None:
    held = one_file.unpack(data, "own.zip")
    pd.testing.assert_frame_equal(one_file.unpack(one_file.pack(held), "b.zip").examples, held.examples)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda parts: parts.pop("atlas.json"), "no atlas in own.zip"),
        (lambda parts: parts.pop("heads.parquet"), "heads.parquet of the atlas own.zip is missing"),
        (lambda parts: parts.update({"texts.parquet": b"PAR1"}), "texts.parquet of the atlas own.zip is missing, or"),
        (lambda parts: parts.update({"atlas.json": b"[" * 5000}), "incomplete"),
        (lambda parts: parts.update({"atlas.json": parts["atlas.json"].replace(b"texts", b"taxts")}), "incomplete"),
    ],
)
def test_a_file_that_lacks_something_is_refused_by_name(
    data: bytes, change: Callable[[dict[str, bytes]], object], why: str
) -> None:
    with pytest.raises(SettingError, match=why):
        one_file.unpack(again(data, change), "own.zip")


def test_what_is_no_archive_is_refused(data: bytes) -> None:
    for broken in (b"", b"PK\x03\x04", data[:-40], data[:50_000]):
        with pytest.raises(SettingError, match="not a zip archive, or it is damaged"):
            one_file.unpack(broken, "own.zip")


def test_a_file_that_unpacks_to_more_than_is_read_is_refused_before_it_is_unpacked(
    data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    bomb = again(data, lambda parts: parts.update({"heads.parquet": bytes(one_file.LARGEST)}))
    assert len(bomb) < one_file.LARGEST / 100
    monkeypatch.setattr(ZipFile, "read", lambda *_: pytest.fail("it was unpacked"))
    with pytest.raises(SettingError, match="at most 64 MB are read"):
        one_file.unpack(bomb, "own.zip")
