"""A corpus through a model: whatever stops a run, its atlas is the same, and no row is lost or counted twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

import bartviz
from bartviz.analysis import measures
from bartviz.analysis.corpus_measures import ALL, RANDOM
from bartviz.analysis.intervals import END
from bartviz.commands.cli import main
from bartviz.corpus.encode import encode
from bartviz.corpus.read import Bad, Columns, Form, Line, lines
from bartviz.corpus.run import corpus, of_lines
from bartviz.corpus.workers import Progress
from bartviz.errors import SettingError, TextError
from bartviz.run.prepare import prepare
from bartviz.text.clean import Truncate
from tests.support import loaded
from tests.support.process import printed

SIZE = 5
TEXTS = [
    f"the {one} sat on the {two}" for one in ("cat", "dog", "mat", "man") for two in ("mat", "cat, and it sat", "dog")
]
ROWS = [*TEXTS[:7], " ", *TEXTS[7:], "the cat " * 400]  # one without a text, one too long
STUDENT_11 = 2.2010  # the quantile for 97.5% of Student's t with 11 degrees of freedom: there are 12 texts
TABLES = ("heads", "examples", "histograms", "bad")


@pytest.fixture(scope="module")
def model() -> str:
    loaded.model("bert")
    return str(loaded.folder() / "bert-0")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("corpus") / "corpus.csv"
    file.write_text("text\n" + "".join(f'"{row}"\n' for row in ROWS), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def whole(model: str, path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("whole") / "atlas"
    corpus(path, model, out, size=SIZE)
    return out


def assert_same(one: Path, two: Path) -> None:
    for name in TABLES:
        assert_frame_equal(getattr(bartviz.open_atlas(one), name), getattr(bartviz.open_atlas(two), name))
    for name in ("looks", "distances"):
        assert_frame_equal(getattr(bartviz.open_atlas(one), name)(), getattr(bartviz.open_atlas(two), name)())


def test_means_deviations_and_intervals_are_those_of_the_records(model: str, whole: Path) -> None:
    atlas = bartviz.open_atlas(whole)
    made = [measures.of_record(bartviz.capture(bartviz.load(model), text, values=True), "encoder") for text in TEXTS]
    heads = atlas.heads[atlas.heads["kind"] == "encoder"]
    for name in ("entropy", "previous", "same", "special", "share"):
        values = np.array([one.values[name] for one in made], np.float64)
        for layer, head in np.ndindex(values.shape[1:]):
            column = values[:, layer, head][np.isfinite(values[:, layer, head])]
            place = (heads["layer"] == layer) & (heads["head"] == head) & (heads["measure"] == name)
            row = heads[place].iloc[0]
            assert row["n"] == len(column)
            assert np.isclose(row["mean"], column.mean(), atol=1e-5)
            assert np.isclose(row["sd"], column.std(ddof=1), atol=1e-4)
            if ALL[name].highest == 1 and not END <= column.mean() <= 1 - END:  # as if of 13 texts
                assert row["low"] <= row["mean"] + 1e-9 <= row["high"] + 2e-9
                assert row["high"] - row["low"] > 0.1
            else:
                half = STUDENT_11 * column.std(ddof=1) / np.sqrt(len(column))
                top = ALL[name].highest or np.inf
                mean = column.mean()
                if top == 1:  # the log odds and their standard error by the delta method
                    odds, wide = np.log(mean / (1 - mean)), half / (mean * (1 - mean))
                    others = [1 / (1 + np.exp(-(odds + side * wide))) for side in (-1, 1)]
                else:
                    others = [mean * np.exp(side * half / mean) for side in (-1, 1)]
                low, high = min(mean - half, others[0]), max(mean + half, others[1])
                assert np.isclose(row["low"], max(low, 0), rtol=1e-3, atol=1e-4)
                assert np.isclose(row["high"], min(high, top), rtol=1e-3, atol=1e-4)
            evens = [one.even[name] for one in made]
            assert np.isclose(row["even"], np.nanmean(evens), atol=1e-5)


def test_examples_are_the_texts_with_the_largest_and_smallest_numbers(model: str, whole: Path) -> None:
    found = bartviz.open_atlas(whole).examples
    cells = (found["layer"] == 1) & (found["head"] == 0) & (found["measure"] == "previous")
    for which, sign in (("highest", -1), ("lowest", 1)):
        shown = found[cells & (found["which"] == which)]
        values = {
            text: float(
                measures.of_record(bartviz.capture(bartviz.load(model), text), "encoder").values["previous"][1, 0]
            )
            for text in TEXTS
        }
        best = sorted(values.values(), key=lambda value: sign * value)[:3]
        np.testing.assert_allclose(shown["value"], best, atol=1e-5)
        np.testing.assert_allclose([values[text] for text in shown["text"]], best, atol=1e-5)


def test_rows_in_memory_make_the_same_atlas_as_a_file(model: str, path: Path, whole: Path) -> None:
    rows = list(lines(path, Columns()))
    seen: list[tuple[int, int]] = []
    held = of_lines(bartviz.load(model), rows, path.name, size=SIZE, report=lambda at: seen.append((at.rows, at.all)))
    for name in TABLES:
        assert_frame_equal(getattr(held, name), getattr(bartviz.open_atlas(whole), name))
    assert held.description["texts"] == len(TEXTS)
    assert seen == [(5, 14), (10, 14), (14, 14)]
    with pytest.raises(SettingError, match="only in memory"):
        held.find(query="cat")
    with pytest.raises(TextError, match="None of the 1 rows can be used"):
        of_lines(bartviz.load(model), [row for row in rows if isinstance(row, Bad)][:1], "empty")


def test_rows_that_cannot_be_used_are_listed(whole: Path) -> None:
    atlas = bartviz.open_atlas(whole)
    assert atlas.description["texts"] == len(TEXTS)
    assert atlas.bad["line"].tolist() == [9, len(ROWS) + 1]
    assert "no text" in atlas.bad["reason"][0]
    assert "this model reads at most" in atlas.bad["reason"][1]


KILLED = """
import os, signal, sys
from bartviz.corpus.run import corpus
path, model, out, size = sys.argv[1:]
def report(progress):
    if progress.rows >= 2 * int(size):
        os.kill(os.getpid(), signal.SIGKILL)
corpus(path, model, out, size=int(size), report=report)
"""


@pytest.mark.thorough
@pytest.mark.slow
def test_a_killed_run_is_resumed_without_a_row_lost_or_counted_twice(
    model: str, path: Path, whole: Path, tmp_path: Path
) -> None:
    out = tmp_path / "atlas"
    command = [sys.executable, "-c", KILLED, str(path), model, str(out), str(SIZE)]
    done = subprocess.run(command, capture_output=True, check=False, env=os.environ | {"OMP_NUM_THREADS": "1"})
    assert done.returncode == -signal.SIGKILL
    (out / "shards" / "000002-half.shard.1.part").write_bytes(b"half a shard")
    with pytest.raises(SettingError, match="its run is not finished: add --resume"):
        bartviz.open_atlas(out)
    with pytest.raises(SettingError, match="already contains this run: add --resume"):
        corpus(path, model, out, size=SIZE)
    seen: list[Progress] = []
    corpus(path, model, out, size=SIZE, resume=True, report=seen.append)
    assert seen[-1].rows == seen[-1].all == len(ROWS)
    assert seen[-1].fresh == len(ROWS) - 2 * SIZE
    assert not list(out.rglob("*.part"))
    assert_same(out, whole)


@pytest.mark.slow
def test_two_workers_give_the_same_atlas(model: str, path: Path, whole: Path, tmp_path: Path) -> None:
    corpus(path, model, tmp_path / "atlas", size=SIZE, workers=2)
    assert_same(tmp_path / "atlas", whole)


def test_parts_of_another_size_give_the_same_numbers(model: str, path: Path, whole: Path, tmp_path: Path) -> None:
    corpus(path, model, tmp_path / "atlas", size=1000)
    one, two = bartviz.open_atlas(tmp_path / "atlas"), bartviz.open_atlas(whole)
    assert_frame_equal(one.heads, two.heads, rtol=1e-4, atol=1e-5)
    assert one.heads["n"].tolist() == two.heads["n"].tolist()
    assert_frame_equal(one.bad, two.bad)
    assert_frame_equal(one.distances(), two.distances(), rtol=1e-3, atol=1e-6)


def test_a_folder_of_another_run_is_refused_with_the_reason(
    model: str, path: Path, whole: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.csv"
    other.write_text("text\nanother\n", encoding="utf-8")
    with pytest.raises(SettingError, match="contains another run: its corpus differ"):
        corpus(other, model, whole, size=SIZE, resume=True)
    said = rf"its settings differ \(settings.size was {SIZE}, is now {SIZE + 1}\)"
    with pytest.raises(SettingError, match=said):
        corpus(path, model, whole, size=SIZE + 1, resume=True)
    with pytest.raises(SettingError, match="contains other files"):
        corpus(path, model, tmp_path, size=SIZE)


def test_columns_that_a_model_does_not_read_are_refused(model: str, path: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="A target belongs to models with an encoder and a decoder"):
        corpus(path, model, tmp_path / "atlas", columns=Columns(target="text"))
    assert not (tmp_path / "atlas").exists()


def test_a_corpus_without_a_usable_row_is_refused(model: str, tmp_path: Path) -> None:
    file = tmp_path / "blank.csv"
    file.write_text('text\n" "\n', encoding="utf-8")
    with pytest.raises(TextError, match=r"None of the 1 rows can be used\. It has no text"):
        corpus(file, model, tmp_path / "atlas")


def test_the_command_reports_and_saves(
    model: str, path: Path, whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["corpus", str(path), "--model", model, "--out", str(tmp_path / "atlas"), "--column", "text"]) == 0
    out = capsys.readouterr()
    assert f"texts    {len(TEXTS)}, 2 rows left out" in out.out
    assert f"{path.name}, line 9: It has no text." in out.out
    assert f"{len(ROWS)} of {len(ROWS)} rows" in out.err
    arguments = ["corpus", str(path), "--model", model, "--out", str(tmp_path / "other"), "--column", "text", "--json"]
    assert main(arguments) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["texts"], found["left_out"], len(found["bad"])) == (len(TEXTS), 2, 2)
    assert found["saved"] == str(tmp_path / "other")
    assert main(["corpus", str(path), "--model", model, "--out", str(tmp_path / "atlas"), "--column", "text"]) == 2
    assert "add --resume" in capsys.readouterr().err


@pytest.mark.slow
def test_an_atlas_opens_without_torch(whole: Path) -> None:
    code = f"""
import sys, bartviz
atlas = bartviz.open_atlas({str(whole)!r})
print(len(atlas.heads) > 0, len(atlas.examples) > 0, atlas.roles is not None, "torch" in sys.modules)
"""
    assert printed(code).strip() == "True True True False"


def test_tables_have_plain_types(whole: Path) -> None:
    heads = bartviz.open_atlas(whole).heads
    numbers = ["n", "mean", "sd", "low", "high", "even", "se", "df"]
    assert heads.columns.tolist() == ["kind", "layer", "head", "measure", *numbers]
    assert not heads.duplicated(["kind", "layer", "head", "measure"]).any()
    assert pd.api.types.is_integer_dtype(heads["n"])


def test_an_atlas_against_itself_has_no_difference_and_no_changed_role(whole: Path) -> None:
    atlas = bartviz.open_atlas(whole)
    table = atlas.against(atlas)
    assert len(table) == atlas.heads["mean"].notna().sum()
    assert (table["difference"] == 0).all()
    assert not table["changed"].any()


def test_the_parts_of_a_run_are_resampled_around_the_means_of_its_texts(
    model: str, path: Path, whole: Path, tmp_path: Path
) -> None:
    atlas = corpus(path, model, tmp_path / "atlas", size=1)
    known = atlas.heads.dropna(subset=["mean"])
    table = atlas.stability().merge(known, on=["kind", "layer", "head", "measure"], suffixes=("", "_known"))
    assert len(table) == (~known["measure"].isin(RANDOM)).sum()
    assert np.allclose(table["mean"], table["mean_known"])
    assert ((table["low"] <= table["mean"] + 1e-12) & (table["mean"] <= table["high"] + 1e-12)).all()
    with pytest.raises(SettingError, match="keeps 3"):
        bartviz.open_atlas(whole).stability()


def test_a_text_that_is_too_long_is_listed_with_advice_that_can_be_followed() -> None:
    model = loaded.model("bert")
    rows = [Line(0, "a.txt", 1, "It is late."), Line(1, "a.txt", 2, "late " * 5_000)]
    (reason,) = of_lines(model, rows, "a").bad["reason"]
    assert reason.startswith("The text has ")
    assert "first or last" not in reason
    assert "Shorten it by" in reason


@pytest.mark.parametrize("part", ["first", "last"])
def test_the_part_of_a_long_text_that_is_asked_for_is_measured(
    part: Truncate, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    long = " ".join(f"{one}, and {two}" for one in TEXTS for two in TEXTS)
    read = prepare(bartviz.load(model), long, truncate=part).text
    atlases = []
    for name, row in (("whole", long), ("part", read)):
        (tmp_path / f"{name}.txt").write_text(f"{TEXTS[0]}\n{row}\n", encoding="utf-8")
        out = tmp_path / name
        assert (
            main(["corpus", str(tmp_path / f"{name}.txt"), "--model", model, "--out", str(out), "--truncate", part])
            == 0
        )
        atlases.append(bartviz.open_atlas(out))
    whole, expected = atlases
    assert_frame_equal(whole.heads, expected.heads)
    assert (whole.description["texts"], whole.description["cut"]) == (2, 1)
    assert "cut" not in expected.description
    assert "0 rows left out, 1 read in part" in capsys.readouterr().out


def test_a_text_with_an_alignment_by_hand_is_never_cut() -> None:
    translator = loaded.model("bart")
    line = Line(0, "a.tsv", 1, "the cat " * 400, target="die Katze", gold="0-0")
    with pytest.raises(TextError, match="tokens"):
        encode(translator, line, truncate="first")
    assert encode(translator, replace(line, gold=None), truncate="first").cut


def test_a_column_that_is_not_there_is_refused_before_a_model_is_looked_for(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("split,en\ntrain,It is late.\ntrain,A dog barks.\n", "utf-8")
    with pytest.raises(SettingError, match="choose split or en"):
        corpus(tmp_path / "a.csv", "no such model", tmp_path / "out", columns=Columns("de"))
    assert not (tmp_path / "out").exists()


def test_how_a_file_is_written_belongs_to_the_settings_of_a_run(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("nr;satz\n1;Schöne Häuser sind da.\n2;Wo ist es?\n".encode("cp1252"))
    form = Form(header=False, encoding="cp1252")
    made = corpus(tmp_path / "a.csv", "bert-tiny-en", tmp_path / "out", columns=Columns("2"), form=form)
    assert (made.description["texts"], made.description["left_out"]) == (3, 0)
    assert made.description["settings"]["form"] == {"header": False, "quotes": None, "encoding": "cp1252"}
    with pytest.raises(SettingError):
        corpus(tmp_path / "a.csv", "bert-tiny-en", tmp_path / "out", columns=Columns("2"), resume=True)
