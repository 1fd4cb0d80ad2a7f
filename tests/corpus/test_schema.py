"""The files of an atlas: what contradicts them or was changed is refused, before much of it is read."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bartviz.analysis.corpus_against import with_errors
from bartviz.corpus import schema, shipped
from bartviz.corpus.atlas import Atlas, open_atlas
from bartviz.errors import SettingError

Change = Callable[[pd.DataFrame], pd.DataFrame]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return Path(shutil.copytree(shipped.FOLDER / "bert-tiny-en", tmp_path / "mine"))


def reseal(path: Path) -> None:
    """Make the digests fit, as somebody who wants to deceive would."""
    description = json.loads((path / "atlas.json").read_bytes())
    files = {name: (path / f"{name}.parquet").read_bytes() for name in description["files"]}
    (path / "atlas.json").write_text(json.dumps(schema.sealed(description, files)))


def changed(path: Path, name: str, change: Change, *, seal: bool = True) -> Atlas:
    file = path / f"{name}.parquet"
    change(pd.read_parquet(file)).to_parquet(file, index=False)
    if seal:
        reseal(path)
    return open_atlas(path)


def test_an_atlas_that_was_saved_again_is_the_same(path: Path, tmp_path: Path) -> None:
    atlas = open_atlas(path)
    again = open_atlas(atlas.save(tmp_path / "again").path)
    again.check()
    for name in ("heads", "histograms", "examples", "bad", "relations"):
        pd.testing.assert_frame_equal(getattr(atlas, name), getattr(again, name))
    with pytest.raises(SettingError, match="contains other files"):
        atlas.save(tmp_path)


def test_an_atlas_of_an_earlier_version_has_the_errors_of_independent_texts(path: Path) -> None:
    heads = changed(path, "heads", lambda table: table.drop(columns=["se", "df"], errors="ignore")).heads
    known = heads[heads["n"] > 1]
    np.testing.assert_allclose(known["se"], known["sd"] / known["n"] ** 0.5)
    assert (known["df"] == known["n"] - 1).all()
    assert heads.loc[heads["n"] < 2, ["se", "df"]].isna().all(axis=None)


def test_a_mean_that_was_edited_is_refused(path: Path) -> None:
    atlas = changed(path, "heads", lambda table: table.assign(mean=table["mean"] * 0.5), seal=False)
    with pytest.raises(SettingError, match=r"heads\.parquet of the atlas mine cannot be read: it was changed"):
        _ = atlas.roles


def test_a_description_that_was_edited_is_refused(path: Path) -> None:
    file = path / "atlas.json"
    file.write_text(file.read_text().replace("bert-tiny-en", "a famous model"))
    with pytest.raises(SettingError, match="was changed after it was created"):
        open_atlas(path)


TABLES: list[tuple[str, Change]] = [
    ("heads", lambda table: table.drop(columns="mean")),
    ("heads", lambda table: table.assign(mean="much")),
    ("heads", lambda table: table.assign(mean=table["mean"] + 2)),
    ("heads", lambda table: table.assign(kind="sideways")),
    ("heads", lambda table: table.assign(measure="charm")),
    ("heads", lambda table: table.assign(layer=10**9)),
    ("heads", lambda table: table.iloc[1:]),
    ("heads", lambda table: table.iloc[:0]),
    ("heads", lambda table: pd.concat([table, table])),
    ("heads", lambda table: table.assign(n=0)),
    ("heads", lambda table: table.assign(low=np.inf)),
    ("heads", lambda table: with_errors(table).assign(se=-1.0)),
    ("heads", lambda table: with_errors(table).assign(df=np.inf)),
    ("heads", lambda table: with_errors(table).assign(df="many")),
    ("heads", lambda table: table.assign(low=table["high"], high=table["low"])),
    ("histograms", lambda table: table.assign(texts=table["texts"] + 1)),
    ("histograms", lambda table: table.iloc[5:]),
    ("histograms", lambda table: table.assign(bin=np.nan)),
    ("examples", lambda table: table.assign(which="best")),
    ("examples", lambda table: table.assign(number=10**6)),
    ("examples", lambda table: table.drop(columns=["which", "rank"])),
    ("texts", lambda table: pd.concat([table, table])),
    ("texts", lambda table: table.assign(text=None)),
    ("bad", lambda table: table.assign(reason=1)),
    ("relations", lambda table: table.drop(columns="arcs")),
    ("looks", lambda table: table.drop(columns="share")),
    ("looks", lambda table: table.assign(side="both")),
    ("looks", lambda table: table.assign(token=None)),
    ("looks", lambda table: table.assign(share=2.0)),
    ("looks", lambda table: table.assign(even=0.0)),
    ("looks", lambda table: table.assign(low=table["high"], high=table["low"])),
    ("looks", lambda table: table.assign(texts=table["n"] + 1)),
    ("looks", lambda table: table.assign(special=2)),
    ("distances", lambda table: table.assign(share=table["share"] + 0.1)),
    ("distances", lambda table: table.assign(nearest=table["nearest"] + 1)),
    ("distances", lambda table: table.iloc[1:]),
    ("distances", lambda table: pd.concat([table, table])),
]


@pytest.mark.parametrize("number", range(len(TABLES)))
def test_a_table_that_contradicts_itself_or_others_is_refused_by_its_name(number: int, path: Path) -> None:
    name, change = TABLES[number]
    atlas = changed(path, name, change)
    file = "examples" if name == "texts" else name
    with pytest.raises(SettingError, match=rf"({name}|{file})\.parquet of the atlas mine cannot be read"):
        atlas.check()


@pytest.mark.parametrize(
    "description",
    [
        "[" * 100_000,
        '{"texts": ' + "9" * 5_000 + "}",
        " " * (2 << 20),
        "{}",
        '{"format": 3, "model": [], "corpus": {}, "settings": {}, "files": {}, "texts": 1, "left_out": 0}',
    ],
    ids=["deep", "digits", "long", "empty", "types"],
)
def test_a_description_of_any_other_form_is_refused(description: str, path: Path) -> None:
    (path / "atlas.json").write_text(description)
    with pytest.raises(SettingError):
        open_atlas(path)


@pytest.mark.parametrize("part", ["model", "corpus", "settings", "files", "texts", "left_out", "digest"])
@pytest.mark.parametrize("value", [None, [], "x", -1, {"name": 7}])
def test_each_part_of_the_description_has_its_type(part: str, value: Any, path: Path) -> None:
    found = json.loads((path / "atlas.json").read_bytes())
    found[part] = value
    if part != "digest":
        found = {**schema.sealed(found, {}), "files": found["files"]}
        found["digest"] = schema.sealed({**found, "digest": ""}, {})["digest"] if part == "files" else found["digest"]
    (path / "atlas.json").write_text(json.dumps(found))
    with pytest.raises(SettingError):
        open_atlas(path)


def test_a_small_file_of_very_many_equal_rows_is_refused_before_it_is_read(path: Path) -> None:
    table = pq.read_table(path / "heads.parquet")
    many = pa.table({name: pa.repeat(table.column(name)[0], 5_000_000) for name in table.column_names})
    pq.write_table(many, path / "heads.parquet")
    assert (path / "heads.parquet").stat().st_size < 1_000_000
    reseal(path)
    with pytest.raises(SettingError, match=r"it has 5,000,000 rows, and at most 2,796,202 are read"):
        open_atlas(path).check()


def test_a_text_that_a_file_has_once_for_many_rows_is_counted_for_each(path: Path) -> None:
    rows = 5_000
    table = pq.read_table(path / "texts.parquet").slice(0, 1)
    long = {name: pa.repeat(table.column(name)[0], rows) for name in table.column_names}
    long |= {"text": pa.repeat(pa.scalar("x" * 100_000, pa.large_string()), rows), "number": pa.array(range(rows))}
    pq.write_table(pa.table(long), path / "texts.parquet")
    assert (path / "texts.parquet").stat().st_size < 1_000_000
    reseal(path)
    with pytest.raises(SettingError, match="its texts are longer"):
        _ = open_atlas(path).examples


@pytest.mark.parametrize("name", ["atlas.json", "heads.parquet"])
def test_a_pipe_is_not_waited_for(name: str, path: Path) -> None:
    import os

    (path / name).unlink()
    os.mkfifo(path / name)
    with pytest.raises(SettingError):
        _ = open_atlas(path).heads


def test_single_edges_that_are_damaged_are_refused(path: Path) -> None:
    description = json.loads((path / "atlas.json").read_bytes())
    description["settings"]["edges"] = 0.2
    (path / "atlas.json").write_text(json.dumps(description))
    reseal(path)
    for folder in ("edges", "texts"):
        (path / folder).mkdir()
        (path / folder / "000000.parquet").write_bytes(b"PAR1 no table PAR1")
    with pytest.raises(SettingError, match="a file is damaged"):
        open_atlas(path).find(key=",")
    for folder in ("edges", "texts"):
        pd.DataFrame({"kind": ["encoder"], "weight": ["much"]}).to_parquet(path / folder / "000000.parquet")
    with pytest.raises(SettingError, match="The edges of this atlas cannot be read: their columns layer"):
        open_atlas(path).find(key=",")
