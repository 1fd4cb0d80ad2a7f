"""Ctrl+C: one line that says how to go on, and the status of a program that was interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import bartviz
from bartviz.commands.cli import main
from bartviz.corpus import shipped
from tests.support import stand_in

ROWS = 600
ATLAS = str(shipped.FOLDER / "bert-tiny-en")


def _interrupted(*_arguments: object, **_options: object) -> object:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("arguments", "where"),
    [
        (["decode", "Hello."], "bartviz.models.load.load"),
        (["capture", "Hello."], "bartviz.models.load.load"),
        (["align", "RECORD"], "bartviz.commands.align.open_record"),
        (["export", "RECORD", "OUT.html"], "bartviz.commands.files.open_record"),
        (["open", "RECORD"], "bartviz.commands.shown.open_record"),
        (["passport", ATLAS, "L0H0", "OUT.html"], "bartviz.corpus.atlas.open_atlas"),
        (["find", ATLAS, "key=,"], "bartviz.corpus.atlas.open_atlas"),
        (["parameters", "facebook/bart-base"], "bartviz.analysis.parameters.parameters"),
        (["app", "--port", "8651"], "bartviz.commands.app.check_settings"),
    ],
)
def test_every_command_ends_in_one_line(
    arguments: list[str],
    where: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    stand_in.record().save(tmp_path / "run.safetensors")
    for name in ("load", "parameters"):
        monkeypatch.delitem(vars(bartviz), name, raising=False)  # it is looked up again
    module, name = where.rsplit(".", 1)
    monkeypatch.setattr(import_module(module), name, _interrupted)
    known = {"RECORD": str(tmp_path / "run.safetensors"), "OUT.html": str(tmp_path / "out.html")}
    assert main([known.get(word, word) for word in arguments]) == 130
    said = capsys.readouterr()
    assert said.err == "bartviz: Stopped before the end. To start again, repeat the command.\n"
    monkeypatch.undo()
    for name in ("load", "parameters"):
        vars(bartviz).pop(name, None)


def _interruptible() -> None:
    """A program that a shell starts in the background ignores Ctrl+C, and so would what it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_run_over_a_corpus_says_how_far_it_is_and_goes_on(workers: str, tmp_path: Path) -> None:
    file, out = tmp_path / "texts.txt", tmp_path / "atlas"
    file.write_text("".join(f"The cat number {row} sat on the mat.\n" for row in range(ROWS)))
    command = [sys.executable, "-m", "bartviz", "corpus", str(file), "--model", "bert-tiny-en", "--out", str(out)]
    command += ["--size", "4", "--workers", workers]
    options: dict[str, Any] = {"stderr": subprocess.PIPE, "text": True, "start_new_session": True}
    with subprocess.Popen(command, preexec_fn=_interruptible, **options) as process:  # noqa: PLW1509
        assert process.stderr is not None
        lines = [process.stderr.readline()]
        assert "rows/s" in lines[0], lines
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to every process of the command
        lines += process.stderr.readlines()
        assert process.wait(60) == 130
    last = lines.pop()
    assert all("rows/s" in line for line in lines), lines
    assert last.startswith("bartviz: Stopped after ")
    assert last.endswith(f" of {ROWS} rows. Repeat the command with --resume to continue.\n")
    assert 4 * len(lines) == int(last.split()[3])
    done = subprocess.run([*command, "--resume"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"texts    {ROWS}, 0 rows left out" in done.stdout
