"""Methods judged over a file: as ``bartviz.faithfulness`` does, whatever stops the run and whoever computes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

import bartviz
from bartviz.attribution import judge as judging
from bartviz.attribution.attribute import COMPUTED
from bartviz.attribution.judge import Scorer
from bartviz.attribution.question import Parts, Question
from bartviz.attribution.removal import OPERATORS
from bartviz.commands import why as command
from bartviz.commands.cli import main
from bartviz.commands.corpus import Shown
from bartviz.corpus import why as module
from bartviz.corpus.why import CSV, ORDERS, PARQUET, Verdicts, why
from bartviz.corpus.workers import Progress
from bartviz.errors import SettingError, TextError
from tests.support.process import ROOT, printed

pytestmark = pytest.mark.slow
MODEL = "bart-tiny-en-de"
METHODS = ["leave-one-out", "mean attention"]
TEXTS = [
    *("I want to buy a car.", "The dog is very old.", "We live near the sea.", "She reads a long letter."),
    *("Go!", "He sold his house.", "My brother plays the piano.", "Tom does not like tea.", "It is cold in winter."),
    *("They have two children.", "The train was late again.", "I saw a bird in the garden."),
]
SETTINGS: dict[str, Any] = {"methods": METHODS, "operators": ["mask", "exchange"], "size": 4}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("texts") / "texts.txt"
    file.write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def out(path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("whole") / "why"


@pytest.fixture(scope="module")
def whole(path: Path, out: Path) -> Verdicts:
    return why(path, MODEL, out, **SETTINGS)


def test_the_table_is_that_of_faithfulness(whole: Verdicts, out: Path) -> None:
    expected = bartviz.faithfulness(bartviz.load(MODEL), TEXTS, METHODS, SETTINGS["operators"], orders=ORDERS)
    assert_frame_equal(whole.table.drop(columns=[*module.HALVES]), expected)
    assert (whole.texts, whole.left_out) == (11, 1)
    assert whole.reasons == {module.SHORT: 1}  # "Go!"
    assert whole.refused == {}
    assert_frame_equal(pd.read_parquet(out / PARQUET), whole.table)
    assert_frame_equal(pd.read_csv(out / CSV), whole.table, rtol=1e-6, atol=1e-9)


def test_halves_are_every_second_text(whole: Verdicts, path: Path, tmp_path: Path) -> None:
    """The verdicts of a half are those of its texts' numbers alone, with its own correction."""
    assert whole.agree == (whole.table["one half"] == whole.table["other half"]).mean()
    few = why(path, MODEL, tmp_path / "few", texts=9, **SETTINGS)
    assert few.agree is None
    assert not {*module.HALVES} & {*few.table}


def test_a_run_that_was_interrupted_is_resumed_to_the_same_table(
    whole: Verdicts, path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(_progress: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        why(path, MODEL, tmp_path / "why", **SETTINGS, report=stop)
    assert not (tmp_path / "why" / CSV).exists()
    with pytest.raises(SettingError, match="already contains this run: add --resume"):
        why(path, MODEL, tmp_path / "why", **SETTINGS)
    (before,) = (tmp_path / "why" / "shards").iterdir()
    written = before.stat().st_mtime_ns
    seen = list[int]()
    again = why(
        path, MODEL, tmp_path / "why", **SETTINGS, resume=True, report=lambda progress: seen.append(progress.rows)
    )
    assert before.stat().st_mtime_ns == written  # what was there is not measured again
    assert seen == [8, 12]
    assert_frame_equal(again.table, whole.table)


def test_a_run_may_be_resumed_with_more_texts(whole: Verdicts, path: Path, tmp_path: Path) -> None:
    first = why(path, MODEL, tmp_path / "why", texts=8, **SETTINGS)
    assert first.texts == 7
    again = why(path, MODEL, tmp_path / "why", resume=True, **SETTINGS)
    assert_frame_equal(again.table, whole.table)


@pytest.mark.usefixtures("ready_workers")
def test_several_processes_have_the_same_table(whole: Verdicts, path: Path, tmp_path: Path) -> None:
    found = why(path, MODEL, tmp_path / "why", workers=2, **SETTINGS)
    assert found.table.verdict.tolist() == whole.table.verdict.tolist()
    assert_frame_equal(found.table, whole.table, rtol=1e-4, atol=1e-6)  # threads add in another order


@pytest.mark.thorough
@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed: bartviz[ray]")
def test_workers_of_ray_have_the_same_table(whole: Verdicts, path: Path, tmp_path: Path) -> None:
    printed(
        "from bartviz.corpus.why import why\nif __name__ == '__main__':\n"
        f"    why({str(path)!r}, {MODEL!r}, {str(tmp_path / 'why')!r}, ray='local', **{SETTINGS!r})"
    )
    found = why(path, MODEL, tmp_path / "why", resume=True, **SETTINGS)  # nothing is left to do
    assert_frame_equal(found.table, whole.table, rtol=1e-4, atol=1e-6)


def test_a_file_or_setting_that_has_changed_is_refused(whole: Verdicts, path: Path, tmp_path: Path, out: Path) -> None:
    other = tmp_path / path.name
    other.write_text(path.read_text("utf-8").replace("dog", "cat"), encoding="utf-8")
    with pytest.raises(SettingError, match="another run: its corpus differ"):
        why(other, MODEL, out, resume=True, **SETTINGS)
    with pytest.raises(SettingError, match="another run: its settings differ"):
        why(path, MODEL, out, resume=True, seed=1, **SETTINGS)


def test_a_shard_that_has_changed_is_refused_by_its_name(path: Path, tmp_path: Path) -> None:
    run = tmp_path / "why"
    settings = {**SETTINGS, "methods": ["mean attention"], "operators": ["mask"]}
    expected = why(path, MODEL, run, **settings)
    shard = min((run / "shards").iterdir())
    shard.write_bytes(shard.read_bytes()[:-8] + bytes(8))
    with pytest.raises(SettingError, match=shard.name):
        why(path, MODEL, run, resume=True, **settings)
    shard.unlink()
    assert_frame_equal(why(path, MODEL, run, resume=True, **settings).table, expected.table)


def test_what_cannot_be_judged_is_refused(path: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="at least 1"):
        why(path, MODEL, tmp_path / "why", texts=0)
    with pytest.raises(SettingError, match="no method magic"):
        why(path, MODEL, tmp_path / "why", methods=["magic"])
    with pytest.raises(TextError, match="4 have 3 words or more: give at least 5"):
        why(path, MODEL, tmp_path / "few", texts=4, **SETTINGS)


def test_the_command_prints_verdicts(whole: Verdicts, path: Path, tmp_path: Path, capsys: Any) -> None:
    words = ["why", str(path), "--model", MODEL, "--out", str(tmp_path / "why"), "--size", "4", "--resume"]
    for method, operator in zip(METHODS, SETTINGS["operators"], strict=True):
        words += ["--method", method.replace(" ", "-"), "--operator", operator]
    assert main(words) == 0
    said = capsys.readouterr()
    assert "12 of 12 rows" in said.err
    lines = said.out.splitlines()
    assert lines[0] == "texts    11, 1 rows left out (too few words: 1)"
    best = whole.table[(whole.table.method == METHODS[0]) & (whole.table.operator == "mask")].verdict
    row = next(line for line in lines if line.startswith(METHODS[0]))
    assert f"+{(best == 'better than chance').sum()} of 3" in row
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["agree"] == whole.agree
    assert [row["verdict"] for row in found["table"]] == whole.table.verdict.tolist()


def test_every_row_that_is_missing_has_a_reason(path: Path, tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    file = tmp_path / "texts.tsv"
    rows = [*TEXTS, "a very long row " * 400, " ", "Go!"]
    file.write_text("text\n" + "".join(f"{row}\n" for row in rows) + "one\ttoo many\n", "utf-8")
    scorers = {"leave-one-out": COMPUTED["leave-one-out"], "mean attention": _refusing("sea")}
    monkeypatch.setattr(judging, "COMPUTED", scorers)
    found = why(file, MODEL, tmp_path / "why", **SETTINGS)
    assert found.texts + found.left_out == len(TEXTS) + 4
    assert found.reasons == {module.UNREADABLE: 2, module.SHORT: 2, module.UNFIT: 1}
    assert found.refused == {"mean attention": 1}
    counts = found.table.groupby("method").texts.unique()
    assert (counts["leave-one-out"].tolist(), counts["mean attention"].tolist()) == ([11], [10])


def _refusing(word: str) -> Scorer:
    """Mean attention, which refuses a text with a word."""

    def scorer(question: Question) -> Parts:
        if word in question.record.source_text:
            raise SettingError("Not this text.")
        return COMPUTED["mean attention"](question)

    return scorer


def test_operators_are_those_of_the_library() -> None:
    assert command.OPERATORS == OPERATORS


def test_ctrl_c_is_said_in_one_line(path: Path, tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    def interrupted(self: Shown, progress: Progress) -> None:
        shown(self, progress)
        raise KeyboardInterrupt

    shown = Shown.report
    monkeypatch.setattr(Shown, "report", interrupted)
    words = ["why", str(path), "--model", MODEL, "--out", str(tmp_path / "why"), "--size", "1"]
    assert main([*words, "--method", "rollout", "--operator", "mask"]) == 130
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("1 of 12 rows"), said
    assert said[1:] == ["bartviz: Stopped after 1 of 12 rows. Repeat the command with --resume to continue."]


def _interruptible() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.thorough
def test_a_signal_is_said_in_one_line(path: Path, tmp_path: Path) -> None:
    arguments = ["why", str(path), "--model", MODEL, "--out", str(tmp_path / "why"), "--size", "1"]
    with subprocess.Popen(
        [sys.executable, "-m", "bartviz", *arguments],
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        preexec_fn=_interruptible,  # noqa: PLW1509
    ) as process:
        assert process.stderr is not None
        first = process.stderr.readline()
        assert first.startswith("1 of 12 rows"), first
        os.kill(process.pid, signal.SIGINT)
        rest = process.stderr.readlines()
        assert process.wait(60) == 130
    assert rest[-1].startswith("bartviz: Stopped after ")
    assert rest[-1].endswith(" of 12 rows. Repeat the command with --resume to continue.\n")
    assert all("rows/s" in line for line in rest[:-1]), rest
