"""The values of each text: those of the records, the same however a run is divided, and refused where they differ."""

from __future__ import annotations

import io
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bartviz
from bartviz.analysis import measures
from bartviz.commands.cli import main
from bartviz.corpus import one_file, text_values
from bartviz.corpus.atlas import Atlas
from bartviz.corpus.read import Line
from bartviz.corpus.run import corpus, of_lines
from bartviz.errors import SettingError
from bartviz.version import commit, versions
from tests.support import loaded

TEXTS = [f"the {one} sat on the {two}" for one in ("cat", "dog", "mat") for two in ("mat", "cat, and it sat", "dog")]
SIZE = 2
FILES = ("heads", "histograms", "examples", "texts", "bad", "relations", "looks", "distances", "values")


@pytest.fixture(scope="module")
def model() -> str:
    loaded.model("bert")
    return str(loaded.folder() / "bert-0")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The third row has no text, the fifth is too long."""
    file = tmp_path_factory.mktemp("corpus") / "corpus.csv"
    rows = [*TEXTS[:2], " ", TEXTS[2], "the cat " * 400, *TEXTS[3:]]
    file.write_text("text\n" + "".join(f'"{row}"\n' for row in rows), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def whole(model: str, path: Path, tmp_path_factory: pytest.TempPathFactory) -> Atlas:
    return corpus(path, model, tmp_path_factory.mktemp("whole") / "atlas", size=SIZE, values=True, silence=4)


def test_the_values_are_those_of_the_records_of_each_text(model: str, whole: Atlas) -> None:
    made = [measures.of_record(bartviz.capture(bartviz.load(model), text, values=True), "encoder") for text in TEXTS]
    assert whole.numbers.tolist() == [0, 1, 3, 5, 6, 7, 8, 9, 10]
    for name in ("entropy", "previous", "same", "share"):
        expected = np.stack([one.values[name] for one in made])  # (N, L, H)
        np.testing.assert_allclose(whole.values("encoder", name), expected, atol=1e-5)
    assert whole.values("encoder", "entropy").dtype == np.float32


def test_their_means_are_those_of_the_table(whole: Atlas) -> None:
    for name in ("distance", "same", "silenced", "to_head"):
        rows = whole.heads[(whole.heads["kind"] == "encoder") & (whole.heads["measure"] == name)]
        found = whole.values("encoder", name).astype(np.float64).reshape(len(TEXTS), -1)
        assert np.isfinite(found).sum(axis=0).tolist() == rows["n"].tolist()
        known = rows["n"].to_numpy() > 0
        np.testing.assert_allclose(np.nanmean(found[:, known], axis=0), rows["mean"].to_numpy()[known], rtol=1e-9)


def test_a_file_of_4_bytes_a_value_at_most(whole: Atlas) -> None:
    names = whole.heads["measure"].nunique() - 2  # induction and duplicate have no text
    heads = len(whole.heads) // whole.heads["measure"].nunique()
    raw = 4 * heads * names * len(TEXTS)
    schema = pq.read_schema(whole.path / text_values.FILE)
    assert sum(field.type.list_size for field in schema if "/" in field.name) * 4 * len(TEXTS) == raw


KILLED = """
import os, signal, sys
from bartviz.corpus.run import corpus
path, model, out = sys.argv[1:]
def report(progress):
    if progress.rows >= 4:
        os.kill(os.getpid(), signal.SIGKILL)
corpus(path, model, out, size=2, values=True, silence=4, report=report)
"""


@pytest.mark.thorough  # tests/corpus/test_run.py kills a run too
@pytest.mark.slow
def test_a_run_that_is_killed_ends_with_the_same_values(model: str, path: Path, whole: Atlas, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(path), model, str(tmp_path / "atlas")], check=False)
    found = corpus(path, model, tmp_path / "atlas", size=SIZE, values=True, silence=4, resume=True)
    assert found.description["files"] == {name: found.description["files"][name] for name in FILES}
    assert found.description["files"]["values"] == whole.description["files"]["values"]


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.usefixtures("ready_workers")
def test_two_workers_keep_the_same_values(model: str, path: Path, whole: Atlas, tmp_path: Path) -> None:
    found = corpus(path, model, tmp_path / "atlas", size=SIZE, values=True, silence=4, workers=2)
    assert found.description["files"]["values"] == whole.description["files"]["values"]


def test_values_of_a_part_that_do_not_add_up_are_refused(model: str, path: Path, tmp_path: Path) -> None:
    measured = partial(corpus, path, model, tmp_path / "atlas", size=SIZE, values=True)
    out = tmp_path / "atlas"
    measured()
    part = out / "values" / "000002.parquet"
    table = pq.read_table(part)
    lists = table.column("encoder/entropy").to_pylist()
    lists[0][0] += 0.01
    field = table.schema.field("encoder/entropy")
    changed = pa.array(lists, field.type)
    pq.write_table(table.set_column(table.schema.get_field_index(field.name), field, changed), part)
    with pytest.raises(
        SettingError, match=r"values/000002\.parquet of the run is missing or damaged: delete the shard"
    ):
        measured(resume=True)
    part.unlink()
    with pytest.raises(SettingError, match="missing or damaged"):
        measured(resume=True)
    next((out / "shards").glob("000002*")).unlink()
    assert measured(resume=True).has_values


def test_a_file_that_was_changed_is_refused_by_its_name(whole: Atlas, tmp_path: Path) -> None:
    for spoil in (lambda data: data[:-1] + b"\0", lambda _data: b"", lambda data: data[: len(data) // 2]):
        atlas = whole.save(tmp_path / "atlas")
        file = tmp_path / "atlas" / text_values.FILE
        file.write_bytes(spoil(file.read_bytes()))
        with pytest.raises(SettingError, match=r"values\.parquet of the atlas atlas cannot be read: it was changed"):
            bartviz.open_atlas(tmp_path / "atlas").check()
        with pytest.raises(SettingError, match="it was changed"):
            atlas.values("encoder", "entropy")


def test_a_file_with_a_right_digest_and_other_contents_is_refused(whole: Atlas) -> None:
    table = pq.read_table(whole.path / text_values.FILE)
    one = bartviz.open_atlas(whole.path)
    for changed in (
        table.slice(0, 4),
        table.drop_columns(["number"]),
        table.set_column(0, "number", [[0] * len(table)]),
        table.set_column(2, table.schema.names[2], [[1.0] * len(table)]),
    ):
        with pytest.raises(SettingError, match=r"values\.parquet of the atlas"):
            _used(replace(one, kept=_bytes(changed)), table.schema.names[2])
    with pytest.raises(SettingError, match="it is not a Parquet file"):
        _used(replace(one, kept=b"nothing"), "encoder/entropy")


def _bytes(table: pa.Table) -> bytes:
    stream = io.BytesIO()
    pq.write_table(table, stream)
    return stream.getvalue()


def _used(atlas: Atlas, column: str) -> None:
    assert len(atlas.numbers) == len(TEXTS)
    assert len(atlas.values("encoder", column.partition("/")[2])) == len(TEXTS)


def test_one_file_and_a_saved_folder_have_the_values_too(whole: Atlas, tmp_path: Path) -> None:
    opened = one_file.unpack(one_file.pack(whole), "atlas.zip")
    for found in (opened, opened.save(tmp_path / "copy"), bartviz.open_atlas(tmp_path / "copy")):
        np.testing.assert_array_equal(found.values("encoder", "entropy"), whole.values("encoder", "entropy"))
    assert (tmp_path / "copy" / text_values.FILE).read_bytes() == (whole.path / text_values.FILE).read_bytes()


def test_one_file_that_would_be_too_large_leaves_the_values_out(whole: Atlas, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_file, "LARGEST", len(one_file.pack(whole)) - whole.kept_size() // 2)
    assert not one_file.unpack(one_file.pack(whole), "atlas.zip").has_values


def test_what_an_atlas_does_not_have_is_refused_with_the_choices(model: str, whole: Atlas) -> None:
    with pytest.raises(SettingError, match="choose encoder"):
        whole.values("cross", "entropy")
    with pytest.raises(SettingError, match="no values of induction for each text: choose entropy"):
        whole.values("encoder", "induction")
    without = of_lines(bartviz.load(model), _lines(TEXTS), "mine")
    assert not without.has_values
    with pytest.raises(SettingError, match="run bartviz corpus with --values"):
        without.values("encoder", "entropy")
    with pytest.raises(SettingError, match=r"has no values of each text\. Create both with"):
        whole.against(without, paired=True)


def test_texts_that_differ_are_not_paired(model: str) -> None:
    bert = bartviz.load(model)
    one = of_lines(bert, _lines(TEXTS), "one", values=True)
    other = of_lines(bert, _lines([*TEXTS[:4], "the dog sat", *TEXTS[5:]]), "other", values=True)
    with pytest.raises(SettingError, match="their texts differ, first in row 5"):
        one.against(other, paired=True)
    with pytest.raises(SettingError, match="they share no text"):
        one.against(of_lines(bert, _lines(TEXTS, start=100), "far", values=True), paired=True)
    pair = of_lines(bert, [replace(line, pair="the dog") for line in _lines(TEXTS)], "pairs", values=True)
    assert "first in row 1" in one.unpaired(pair)


def test_two_models_are_compared_over_the_texts_that_both_have_read(model: str) -> None:
    """Every number again from the values, by hand."""
    one = of_lines(bartviz.load(model), _lines(TEXTS), "one", values=True)
    longer = _lines(TEXTS)[1:]
    other = of_lines(loaded.model("bert", 1), longer, "other", values=True)
    table = one.against(other, paired=True)
    a = one.values("encoder", "entropy")[1:, 1, 0].astype(np.float64)
    b = other.values("encoder", "entropy")[:, 1, 0].astype(np.float64)
    row = table.query("kind == 'encoder' and layer == 1 and head == 0 and measure == 'entropy'").iloc[0]
    assert row["n"] == len(TEXTS) - 1
    assert row["difference"] == pytest.approx((b - a).mean())
    half = 2.3646 * (b - a).std(ddof=1) / np.sqrt(len(a))
    assert (row["difference_low"], row["difference_high"]) == pytest.approx(
        ((b - a).mean() - half, (b - a).mean() + half), rel=1e-4
    )
    assert (row["median"], row["other_median"]) == pytest.approx((np.median(a), np.median(b)))
    assert row["difference_median"] == pytest.approx(np.median(b - a))
    assert (row["p"] <= 0.05) == (row["difference_low"] > 0 or row["difference_high"] < 0)
    assert table["p"].is_monotonic_increasing


def _lines(texts: list[str], start: int = 0) -> list[Line]:
    return [Line(start + number, "mine", number + 1, text) for number, text in enumerate(texts)]


def test_the_command_keeps_the_values_where_it_is_asked_to(model: str, path: Path, tmp_path: Path) -> None:
    assert main(["corpus", str(path), "--model", model, "--out", str(tmp_path / "atlas"), "--values"]) == 0
    assert bartviz.open_atlas(tmp_path / "atlas").values("encoder", "peak").shape[0] == len(TEXTS)
    assert main(["corpus", str(path), "--model", model, "--out", str(tmp_path / "other")]) == 0
    assert not bartviz.open_atlas(tmp_path / "other").has_values
    assert not (tmp_path / "other" / "values").exists()


def test_an_atlas_says_with_which_versions_it_was_made(whole: Atlas, model: str) -> None:
    import torch
    import transformers

    found = whole.description["versions"]
    assert found == versions()
    assert (found["torch"], found["transformers"]) == (str(torch.__version__), transformers.__version__)
    assert found["bartviz"] == bartviz.__version__
    assert found.get("commit", "") == commit()
    assert "began_with" not in whole.description
    assert bartviz.capture(bartviz.load(model), TEXTS[0]).provenance.versions == found


def test_a_run_that_is_finished_with_other_versions_names_both(
    model: str, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bartviz.corpus import run_folder

    before = {**versions(), "bartviz": "0.0.9"}
    with monkeypatch.context() as older:
        older.setattr(run_folder, "versions", lambda: before)
        corpus(path, model, tmp_path / "atlas", size=SIZE)
    found = corpus(path, model, tmp_path / "atlas", size=SIZE, resume=True)
    assert (found.description["versions"], found.description["began_with"]) == (versions(), before)
