"""A series: the curves are those of the atlases, change points those of the values, and a stopped run goes on."""

from __future__ import annotations

import base64
import io
import json
import re
import shutil
import subprocess
import sys
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

import bartviz
from bartviz.analysis.change_points import change_points
from bartviz.commands.cli import main
from bartviz.corpus import replay, run_replay
from bartviz.corpus.atlas import Atlas
from bartviz.corpus.run_replay import curves_of
from bartviz.corpus.run_series import ordered, series
from bartviz.corpus.series import Series
from bartviz.corpus.workers import Progress
from bartviz.errors import SettingError
from bartviz.language import LANGUAGES
from tests.support import checkpoints

TEXTS = [f"the {one} sat on the {two}" for one in ("cat", "dog", "mat", "man") for two in ("mat", "dog", "cat and it")]
PAIRS = [(text, text) for text in TEXTS]
STEPS = tuple(checkpoints.SCALES)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three checkpoints of one training, and what else lies in its folder: the queries grow."""
    folder = tmp_path_factory.mktemp("run")
    checkpoints.written(folder)
    (folder / "curve.tsv").write_text("step\tloss\n")
    (folder / "runs").mkdir()
    return folder


@pytest.fixture(scope="module")
def measured(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Series:
    return series(PAIRS, sorted(run.iterdir()), tmp_path_factory.mktemp("out") / "series")


def test_the_curves_are_those_of_the_atlases_in_the_order_of_the_steps(run: Path, measured: Series) -> None:
    assert measured.steps == STEPS
    for step in STEPS:
        alone = bartviz.corpus(PAIRS, bartviz.load(run / f"checkpoint-{step}")).heads
        curve = measured.heads[measured.heads["step"] == step].drop(columns="step").reset_index(drop=True)
        assert_frame_equal(curve, alone)
    wide = measured.to_dataframe()
    heads = measured.heads
    row = heads[(heads["kind"] == "cross") & (heads["measure"] == "entropy")].iloc[-1]
    same = wide[(wide["step"] == row["step"]) & (wide["kind"] == "cross")].iloc[-1]
    assert (same["layer"], same["head"]) == (row["layer"], row["head"])
    assert same["entropy"] == row["mean"]
    assert len(wide) == len(heads.drop_duplicates(["step", "kind", "layer", "head"]))


def test_change_points_are_those_of_the_values(measured: Series) -> None:
    found = measured.change_points("peak", "encoder", least=0.001, resamples=100)
    values = np.stack([atlas.values("encoder", "peak") for atlas in measured.atlases])
    expected = change_points(values.reshape(3, len(TEXTS), -1), STEPS, least=0.001, resamples=100)
    np.testing.assert_array_equal(found["step"], expected.step)
    np.testing.assert_array_equal(found["change_high"], expected.change_high)
    assert (found["reason"] == "").any()  # scaled queries make weights more peaked
    known = found.dropna(subset="step")
    assert (known["low"] <= known["step"]).all()
    assert (known["step"] <= known["high"]).all()
    every = measured.change_points("peak", resamples=10)
    assert set(every["kind"]) == {"encoder", "decoder", "cross"}
    with pytest.raises(SettingError, match=r"choose .*peak"):
        measured.change_points("nothing")
    with pytest.raises(SettingError, match="no values of alignment"):
        measured.change_points("alignment", "encoder")


def test_roles_are_those_of_the_last_moment_with_their_change_points() -> None:
    """Three moments by hand: one head pairs words from the second moment on."""
    values = [0.05, 0.1, 0.9]

    class Given:
        def __init__(self, value: float) -> None:
            self.value = value
            self.kinds = ("cross",)
            self.has_values = True

        def measures_with_values(self, kind: str) -> tuple[str, ...]:
            return ("alignment",)

        def values(self, kind: str, measure: str) -> np.ndarray:
            return np.full((40, 1, 1), self.value)

        @property
        def roles(self) -> pd.DataFrame:
            named = {"role": "one to one", "measure": "alignment", "mean": self.value, "low": 0.8, "high": 0.95}
            rows = [{"kind": "cross", "layer": 0, "head": 0, **named}]
            rows.append({"kind": "encoder", "layer": 1, "head": 0, **named, "measure": "induction"})
            return pd.DataFrame(rows)

    atlases = cast("list[Atlas]", [Given(value) for value in values])
    found = Series(Path("given"), (0, 60, 900), atlases).roles()
    aligning, induction = found.to_dict("records")
    assert 60 < aligning["step_low"] == aligning["step"] == aligning["step_high"] < 900  # no text differs
    assert aligning["low"] == 0.8
    assert np.isnan(induction["step"])  # without values of texts


def test_a_series_that_was_stopped_goes_on(run: Path, measured: Series, tmp_path: Path) -> None:
    out = tmp_path / "series"

    class Stop(Exception):
        pass

    def stop(progress: object) -> None:
        if getattr(progress, "rows", 0) > len(PAIRS):
            raise Stop

    with pytest.raises(Stop):
        series(PAIRS, list(run.iterdir()), out, report=stop)
    with pytest.raises(SettingError, match="--resume"):
        bartviz.open_series(out)
    with pytest.raises(SettingError, match="already contains this run"):
        series(PAIRS, list(run.iterdir()), out)
    resumed = series(PAIRS, list(run.iterdir()), out, resume=True)
    assert_frame_equal(resumed.heads, measured.heads)
    (out / "other").mkdir()
    with pytest.raises(SettingError, match="other"):
        series(PAIRS, list(run.iterdir()), out, resume=True)


# The parts of each moment, and whole moments side by side, as in the test below.
@pytest.mark.parametrize("workers", [4, pytest.param(2, marks=pytest.mark.thorough)])
@pytest.mark.usefixtures("ready_workers")
def test_several_workers_measure_the_same(workers: int, run: Path, measured: Series, tmp_path: Path) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_text("en\tde\n" + "".join(f"{one}\t{two}\n" for one, two in PAIRS))
    columns = {"text": "en", "target": "de"}
    moments = list(run.iterdir())
    alone = series(file, moments, tmp_path / "one", columns=columns, size=5)
    heard: list[Progress] = []
    found = series(file, moments, tmp_path / "several", columns=columns, size=5, workers=workers, report=heard.append)
    assert_frame_equal(found.heads, alone.heads)
    assert [one.rows for one in heard] == sorted(one.rows for one in heard)
    assert {(one.all, one.fresh - one.rows) for one in heard} == {(len(STEPS) * len(PAIRS), 0)}
    assert heard[-1].rows == heard[-1].all
    one, other = (replay.open_replay(each.path / replay.FILE) for each in (alone, found))
    assert [example.written for example in one.examples] == [example.written for example in other.examples]
    np.testing.assert_allclose(alone.heads["mean"], measured.heads["mean"], atol=1e-6)


@pytest.mark.usefixtures("ready_workers")
def test_moments_side_by_side_end_with_one_that_fails_and_go_on(run: Path, measured: Series, tmp_path: Path) -> None:
    moments = sorted(path for path in run.iterdir() if path.name.startswith("checkpoint"))
    damaged = shutil.copytree(moments[-1], tmp_path / "checkpoint-900")
    (damaged / "model.safetensors").write_bytes(b"nothing")
    out = tmp_path / "series"
    with pytest.raises(SettingError, match="checkpoint-900 cannot be used"):
        series(PAIRS, [*moments[:-1], damaged], out, workers=2)
    heard: list[Progress] = []
    found = series(PAIRS, moments, out, workers=2, resume=True, report=heard.append)
    assert_frame_equal(found.heads, measured.heads)
    assert heard[-1].rows == heard[-1].all == len(STEPS) * len(PAIRS)
    assert heard[-1].fresh < heard[-1].all  # what was finished is kept
    with pytest.raises(SettingError, match="other processes cannot import"):
        series(PAIRS, moments, tmp_path / "own", workers=2, measures={"mine": lambda weights, tokens: weights[:, 0, 0]})


def test_what_is_not_of_one_training_is_refused_by_its_name(run: Path, tmp_path: Path) -> None:
    other = shutil.copytree(run / "checkpoint-60", tmp_path / "checkpoint-61")
    config = json.loads((other / "config.json").read_text())
    (other / "config.json").write_text(json.dumps(config | {"encoder_ffn_dim": 8}))
    with pytest.raises(SettingError, match=r"encoder_ffn_dim is .* in checkpoint-0, and 8 in checkpoint-61"):
        series(PAIRS, [run / "checkpoint-0", other], tmp_path / "out")
    (other / "config.json").write_text("{")
    with pytest.raises(SettingError, match="checkpoint-61 cannot be read"):
        series(PAIRS, [run / "checkpoint-0", other], tmp_path / "out")
    shutil.copy(run / "checkpoint-60" / "config.json", other)
    (other / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(SettingError, match="The checkpoint checkpoint-61 cannot be used"):
        series(PAIRS, [run / "checkpoint-0", other], tmp_path / "out")
    with pytest.raises(SettingError, match="given outputs"):
        series(TEXTS, list(run.iterdir()), tmp_path / "outputs")


def test_another_vocabulary_is_refused(run: Path, tmp_path: Path) -> None:
    other = shutil.copytree(run / "checkpoint-60", tmp_path / "checkpoint-61")
    file = other / "tokenizer.json"
    written = json.loads(file.read_text())
    vocabulary = written["model"]["vocab"]
    one, two = sorted(vocabulary, key=vocabulary.get)[-2:]
    vocabulary[one], vocabulary[two] = vocabulary[two], vocabulary[one]
    file.write_text(json.dumps(written))
    with pytest.raises(SettingError, match="checkpoint-61 has another vocabulary than checkpoint-0"):
        series(PAIRS, [run / "checkpoint-0", other], tmp_path / "out")


def test_steps_are_read_from_names_or_given(run: Path, tmp_path: Path) -> None:
    for name in ("best", "000128", "step1000"):
        shutil.copytree(run / "checkpoint-0", tmp_path / name)
    with pytest.raises(SettingError, match="checkpoint best does not end with its step"):
        ordered([tmp_path / "best", tmp_path / "step1000"])
    assert list(ordered([tmp_path / "step1000", tmp_path / "000128"])) == [128, 1000]
    assert list(ordered([tmp_path / "best", tmp_path / "step1000"], [7, 3])) == [3, 7]
    with pytest.raises(SettingError, match="3 steps for 2"):
        ordered([tmp_path / "best", tmp_path / "step1000"], [7, 3, 1])
    with pytest.raises(SettingError, match="best and step1000 have the same step, 7"):
        ordered([tmp_path / "best", tmp_path / "step1000"], [7, 7])
    with pytest.raises(SettingError, match="at least two"):
        ordered([tmp_path / "best", tmp_path])


def test_a_series_without_values_has_curves_and_no_change_points(run: Path, tmp_path: Path) -> None:
    found = series(PAIRS, list(run.iterdir()), tmp_path / "series", values=False)
    assert len(found.heads)
    with pytest.raises(SettingError, match="--values"):
        found.change_points("peak")


def test_it_opens_without_torch_and_not_if_damaged(measured: Series, tmp_path: Path) -> None:
    code = (
        f"import bartviz, sys; found = bartviz.open_series({str(measured.path)!r}); found.change_points('peak'); "
        "print(found, 'torch' in sys.modules)"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed == "<Series of 3 moments: 12 texts of texts> False\n"
    with pytest.raises(SettingError, match="bartviz corpus --checkpoints writes one"):
        bartviz.open_series(tmp_path)
    for content in ("{", "[]", '{"format": 1, "steps": [3, 1]}', '{"format": 1, "steps": []}', '{"format": 2}'):
        (tmp_path / "series.json").write_text(content)
        with pytest.raises(SettingError, match="damaged"):
            bartviz.open_series(tmp_path)


def test_the_command_writes_a_series(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_text("en\tde\n" + "".join(f"{one}\t{two}\n" for one, two in PAIRS))
    out = tmp_path / "series"
    command = ["corpus", str(file), "--checkpoints", *map(str, sorted(run.iterdir())), "--out", str(out)]
    assert main([*command, "--column", "en", "--target", "de"]) == 0
    printed = capsys.readouterr()
    assert "steps    0, 60, 900" in printed.out
    assert "Left out, because they hold no config.json: curve.tsv, runs." in printed.err
    assert "36 of 36 rows" in printed.err
    assert main([*command, "--column", "en", "--target", "de", "--resume", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["steps"] == [*STEPS]
    assert main([*command, "--edges", "0.3"]) == 2
    assert "A series has no --edges" in capsys.readouterr().err
    assert main(["corpus", str(file), "--model", "bert-tiny-en", "--steps", "3", "--out", str(out)]) == 2
    assert "--steps" in capsys.readouterr().err


def test_the_replay_has_the_curves_the_maps_and_what_is_written(run: Path, measured: Series, tmp_path: Path) -> None:
    found = replay.open_replay(measured.path / replay.FILE)
    assert found.steps == STEPS
    row = measured.heads.query("kind == 'cross' and layer == 1 and head == 0 and measure == 'special' and step == 60")
    place = found.about["kinds"]["cross"]["measures"].index("special")
    np.testing.assert_allclose(
        found.curves["cross"][1, 1, 0, place] / 255, row[["mean", "low", "high"]].to_numpy()[0], atol=0.5 / 255 + 1e-9
    )
    assert [example.text for example in found.examples] == TEXTS[:3]
    for step, moment in zip(STEPS, range(3), strict=True):
        model = bartviz.load(run / f"checkpoint-{step}")
        record = bartviz.capture(model, TEXTS[1], target=TEXTS[1])
        assert record.output is not None
        example = found.examples[1]
        shares = example.maps["cross"][moment, 1, 0] / 255
        np.testing.assert_allclose(shares, record.head("cross L1H0"), atol=0.5 / 255 + 1e-6)
        assert example.labels["cross"] == (record.output.labels, record.source.labels)
        assert example.written[moment] == (bartviz.decode(model, TEXTS[1], max_new_tokens=40).target_text or "")[:400]
    assert found.pack() == (measured.path / replay.FILE).read_bytes()  # what was read is what was written
    code = f"import sys; from bartviz.corpus.replay import open_replay as f; f({str(measured.path / replay.FILE)!r}); "
    code += "print({'torch', 'pandas', 'pyarrow'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


def test_the_payload_is_the_description_and_the_arrays_in_its_order(measured: Series) -> None:
    found = replay.open_replay(measured.path / replay.FILE)
    data = found.payload()
    end = 4 + int.from_bytes(data[:4], "little")
    about = json.loads(data[4:end])
    for name, *shape in about["arrays"]:
        size = int(np.prod(shape))
        kept = found.examples[int(name.split("/")[1])].maps if name.startswith("maps") else found.curves
        sent = np.frombuffer(data[end : end + size], np.uint8).reshape(shape)
        np.testing.assert_array_equal(sent, kept[name.split("/")[-1]])
        end += size
    assert end == len(data)


def test_change_points_and_other_curves_are_in_the_replay(measured: Series, tmp_path: Path) -> None:
    file = tmp_path / "curve.tsv"
    file.write_text("step\tloss\tBLEU\n0\t9.5\t0\n60\t3.25\t\n")
    curves = curves_of(file, "loss", "BLEU")
    assert curves == {"loss": [(0.0, 9.5), (60.0, 3.25)], "BLEU": [(0.0, 0.0)]}
    about = replay.open_replay(replay.of_series(measured, (), curves).pack()).about
    assert about["curves"] == {"loss": [[0.0, 9.5], [60.0, 3.25]], "BLEU": [[0.0, 0.0]]}
    points = measured.change_points("special").query("reason == ''")
    known = [point for point in about["points"] if point[3] == "special"]
    assert [point[:3] for point in known] == points[["kind", "layer", "head"]].to_numpy().tolist()
    with pytest.raises(SettingError, match="no column nothing"):
        curves_of(file, "nothing")
    with pytest.raises(SettingError, match="Name the columns"):
        curves_of(file)
    file.write_text("step\tloss\nx\t1\n")
    with pytest.raises(SettingError, match="as numbers"):
        curves_of(file, "loss")


def test_all_examples_that_are_given_are_kept(run: Path, tmp_path: Path) -> None:
    given = [*TEXTS[:4], "a text with more than sixty characters, which is not short, but it was asked for"]
    pairs = run_replay.fitting([(text, text) for text in given], bartviz.load(run / "checkpoint-0"))
    assert pairs == [(text, text) for text in given]
    assert run_replay.fitting(given, bartviz.load("bert-tiny-en")) == [(text, None) for text in given]


def test_a_training_before_its_end_says_how_long_it_is(measured: Series) -> None:
    made = replay.open_replay(measured.path / replay.FILE)
    longer = replace(made, about={**made.about, "whole": STEPS[-1] + 1})
    assert replay.open_replay(longer.pack()).about["whole"] == STEPS[-1] + 1
    with pytest.raises(SettingError, match="is not a replay"):
        replay.open_replay(replace(made, about={**made.about, "whole": STEPS[-1]}).pack())


def test_what_is_no_replay_is_refused(measured: Series) -> None:
    data = (measured.path / replay.FILE).read_bytes()

    def changed(name: str, content: bytes) -> bytes:
        written = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(written, "w") as new:
            for one in old.namelist():
                new.writestr(one, content if one == name else old.read(one))
        return written.getvalue()

    about = json.loads(zipfile.ZipFile(io.BytesIO(data)).read("about.json"))
    wrong = io.BytesIO()
    np.save(wrong, np.zeros((3, 1), np.uint8))
    others = [{"format": 2}, {"steps": [3, 1]}, {"kinds": {}}, {"points": [["cross", 99, 0, "same", 1, 1, 1]]}]
    damaged = [b"", data[:-40], changed("about.json", b"[]"), changed("curves/cross.npy", wrong.getvalue())]
    damaged += [changed("about.json", json.dumps(about | other).encode()) for other in others]
    for content in damaged:
        with pytest.raises(SettingError, match="not a replay"):
            replay.open_replay(content, "mine.zip")
    assert replay.open_replay(changed("about.json", json.dumps(about).encode())).steps == STEPS


def test_a_training_is_saved_as_a_page_that_holds_the_replay(
    measured: Series, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, other, third = (tmp_path / name for name in ("born.html", "folder.html", "file.html"))
    measured.save(page)
    header, data = held(page)
    assert header["length"] == len(data)
    assert zlib.decompress(data) == replay.open_replay(measured.path / replay.FILE).payload()
    assert {*header["pages"]} == {*LANGUAGES}
    assert f"{len(PAIRS)} texts" in header["pages"]["en"]["lead"]
    assert main(["export", str(measured.path), str(other)]) == 0
    assert main(["export", str(measured.path / replay.FILE), str(third)]) == 0
    assert page.read_bytes() == other.read_bytes() == third.read_bytes()
    assert str(third) in capsys.readouterr().out
    with pytest.raises(SettingError, match=r"ends in \"\.html\""):
        measured.save(tmp_path / "born.svg")


def held(page: Path) -> tuple[dict[str, Any], bytes]:
    """The header of the data of a page, and what is behind it."""
    found = re.search(r'id="data">([^<]+)<', page.read_text("utf-8"))
    assert found is not None
    data = base64.b64decode(found[1])
    end = 4 + int.from_bytes(data[:4], "little")
    return json.loads(zlib.decompress(data[4:end])), data[end:]
