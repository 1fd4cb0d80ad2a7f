"""What was measured is written with the machine it was measured on, part by part."""

from __future__ import annotations

import os
import re
import socket
from importlib.metadata import version
from pathlib import Path

import pytest

from benchmarks import __main__ as command
from benchmarks import results


def test_a_part_is_printed_and_written_with_the_machine_but_not_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "RESULTS.md"
    results.write({"capture": lambda: print("\nours 1.00"), "payload": lambda: print("theirs 2.00")}, file)
    text = file.read_text("utf-8")
    assert capsys.readouterr().out == "\nours 1.00\ntheirs 2.00\n"
    assert re.findall(r"^## (\w+)$", text, re.M) == ["Capture", "Payload"]
    assert re.findall(r"```text\n(.*?)\n```", text, re.S) == ["ours 1.00", "theirs 2.00"]
    assert len(re.findall(r"^Measured \d{4}-\d\d-\d\d, load \d+\.\d before, \d+\.\d after\.$", text, re.M)) == 2
    assert f"{os.cpu_count()} cores" in text
    assert f"torch {version('torch')}" in text
    assert socket.gethostname() not in text
    assert str(Path.home()) not in text


def test_a_run_that_is_stopped_leaves_what_it_has_measured(tmp_path: Path) -> None:
    def stopped() -> None:
        raise KeyboardInterrupt

    file = tmp_path / "RESULTS.md"
    with pytest.raises(KeyboardInterrupt):
        results.write({"capture": lambda: print("ours 1.00"), "payload": stopped}, file)
    assert "ours 1.00" in file.read_text("utf-8")


def test_a_part_that_is_measured_alone_takes_its_place_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "RESULTS.md"
    results.write({"capture": lambda: print("ours 1.00"), "payload": lambda: print("theirs 2.00")}, file)
    order = ("capture", "files", "payload")
    results.write({"files": lambda: print("new 3.00")}, file, order=order)
    results.write({"payload": lambda: print("theirs 4.00")}, file, order=order)
    text = file.read_text("utf-8")
    assert re.findall(r"^## (\w+)$", text, re.M) == ["Capture", "Files", "Payload"]
    assert re.findall(r"```text\n(.*?)\n```", text, re.S) == ["ours 1.00", "new 3.00", "theirs 4.00"]


def test_parts_of_two_machines_are_not_mixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "RESULTS.md"
    results.write({"capture": lambda: print("ours 1.00")}, file)
    text = file.read_text("utf-8")
    monkeypatch.setattr(results, "_processor", lambda: "Another One")
    with pytest.raises(SystemExit, match="on another machine or with other versions"):
        results.write({"files": lambda: print("new 3.00")}, file, order=("capture", "files"))
    assert file.read_text("utf-8") == text


def test_the_results_are_of_one_machine_and_have_every_part() -> None:
    """What ships has the form that a part measured alone is put into, and no part is missing."""
    text = results.FILE.read_text("utf-8")
    assert text.startswith(results.HEAD)
    parts = [name.lower() for name in re.findall(r"^## (\w+)$", text, re.M)]
    assert parts == list(command.parts(Path(), quick=False))


@pytest.mark.slow
def test_a_quick_run_writes_ours_beside_the_peers_where_it_is_told_to(tmp_path: Path) -> None:
    file = tmp_path / "quick.md"
    command.main(["payload", "--quick", "--out", str(file)])
    text = file.read_text("utf-8")
    for name in ("ours: canvas", "plotly, float32", "bertviz head view", "bertviz model view"):
        assert re.search(rf"{name} +\d+\.\d+ MB +\d+\.\d ms", text), name


def test_a_part_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["nothing"])
    assert "no part: nothing; choose from start, memory, capture" in capsys.readouterr().err
