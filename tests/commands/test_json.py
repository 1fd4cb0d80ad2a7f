"""The commands' JSON, text from a pipe, and the files that they write and open."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bartviz
from bartviz.analysis import alignment
from bartviz.app.frame import server
from bartviz.commands import app, shown
from bartviz.commands.cli import main
from bartviz.corpus import folders, one_file, replay, shipped
from bartviz.explorer.file import page
from bartviz.safety import ray_cluster
from bartviz.serving import ray_serve
from tests.support import stand_in

COMMANDS = (
    *("app", "open", "capture", "decode", "attribute", "align"),
    *("corpus", "export", "parameters", "models", "completion"),
)


def _said(capsys: pytest.CaptureFixture[str]) -> Any:
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    return json.loads(out)


@pytest.mark.slow
def test_capture_reads_a_pipe_and_prints_json(
    folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("What time is it? 한국어\n".encode())))
    file = tmp_path / "run.safetensors"
    assert main(["capture", "-", "--model", folder, "--target", "Wie spät?", "--save", str(file), "--json"]) == 0
    said = _said(capsys)
    assert (said["source"], said["target"]) == ("What time is it? 한국어", "Wie spät?")
    record = bartviz.open(file)
    assert said["kinds"]["cross"] == dict(
        zip(("layers", "heads", "rows", "columns"), record.attention("cross").shape, strict=True)
    )
    assert said["checks"]
    assert all(check["passed"] for check in said["checks"])


@pytest.mark.slow
def test_decode_prints_json_and_saves_the_explorer(
    folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--beams", "2", "--max-new-tokens", "4", "--save", str(tmp_path / "run.html"), "--json"]
    assert main(["decode", "What time is it?", "--model", folder, *words]) == 0
    said = _said(capsys)
    assert [step["position"] for step in said["steps"]] == list(range(len(said["steps"])))
    assert said["texts"][0]["state"] == "best"
    assert said["texts"][0]["log_probability"] == pytest.approx(said["log_probability"], abs=1e-3)
    assert (tmp_path / "run.html").read_bytes().startswith(b"<!doctype html>")


def test_text_that_is_not_utf_8_is_refused(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff\xfe\xfa a")))
    assert main(["capture", "-"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_align_prints_a_line_of_json_a_record(saved: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["align", saved, saved, "--layer", "1", "--json"]) == 0
    first, second = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    record = stand_in.record()
    links = alignment.links(alignment.table(record, alignment.heads_of(record, 1)).weights)
    assert first == second
    assert first["links"] == [list(link) for link in sorted(links)]
    assert main(["align", saved, "--rank", "--json"]) == 0
    assert len(_said(capsys)["ranking"]) == 2 * (12 + 3)


def test_parameters_and_models_are_tables_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "--json"]) == 0
    assert "facebook/bart-large-cnn" in {model["name"] for model in _said(capsys)}
    assert main(["parameters", "facebook/bart-base", "--json"]) == 0
    rows = _said(capsys)
    assert main(["parameters", "--model", "facebook/bart-base", "--json"]) == 0
    assert _said(capsys) == rows
    table = bartviz.parameters("facebook/bart-base")
    assert [row["elements"] for row in rows] == table["elements"].tolist()


def test_export_writes_the_explorer(saved: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "both.html"
    assert main(["export", saved, saved, str(file)]) == 0
    record = bartviz.open(saved)
    assert file.read_bytes() == page([record, record])
    assert str(file) in capsys.readouterr().out
    assert main(["export", saved, str(file), "--exact", "--json"]) == 0
    assert _said(capsys) == {"records": [saved], "saved": str(file), "bytes": file.stat().st_size}


def test_open_serves_the_app_with_the_record(saved: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ports: list[int] = []

    def run(options: Any, page: str) -> int:
        assert page == ""
        ports.append(options.port)
        return 0

    monkeypatch.setattr(app, "run", run)
    monkeypatch.setenv("BARTVIZ_RECORD", "")
    monkeypatch.chdir(Path(saved).parent)
    assert main(["open", "run.safetensors", "--port", "8765"]) == 0
    assert ports == [8765]
    assert Path(os.environ["BARTVIZ_RECORD"]) == Path(saved)


@pytest.mark.parametrize("command", ["app", "open"])
def test_an_atlas_is_shown_beside_those_of_the_setting(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pages: list[str] = []

    def run(_options: Any, page: str) -> int:
        pages.append(page)
        return 0

    first, second = (shipped.FOLDER / name for name in shipped.NAMES[:2])
    monkeypatch.setattr(app, "run", run)
    monkeypatch.setenv("BARTVIZ_ATLASES", str(second))
    assert main([command, str(first)]) == 0
    assert os.environ["BARTVIZ_ATLASES"] == f"{first}{os.pathsep}{second}"
    assert pages == ["corpus"]


def test_an_atlas_in_one_file_is_the_first_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    atlas = shipped.atlas(shipped.NAMES[0])
    file = tmp_path / "mine.zip"
    file.write_bytes(one_file.pack(atlas))
    monkeypatch.setenv("BARTVIZ_ATLASES", "")
    assert shown.offer(file) == "corpus"
    assert folders.names()[0] == "mine"
    assert folders.atlas("mine").heads.equals(atlas.heads)


def test_a_training_is_shown_by_its_folder_and_by_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / replay.FILE
    shutil.copyfile(replay.SHIPPED, file)
    for path in (tmp_path, file):
        monkeypatch.setenv(replay.SETTING, "")
        assert shown.offer(path) == "born"
        assert os.environ[replay.SETTING] == str(file)


def test_what_is_none_of_these_is_refused_before_anything_is_served(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "run", lambda *_: pytest.fail("served"))
    (tmp_path / "other.zip").write_bytes(b"no zip")
    for name, said in {
        "other.zip": "other.zip",
        "missing.zip": "missing.zip",
        "no.safetensors": "no such file",
    }.items():
        assert main(["app", str(tmp_path / name)]) == 2
        assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [["app"], ["app", "SAVED"], ["open", str(shipped.FOLDER / shipped.NAMES[0])]],
    ids=["app", "record", "atlas"],
)
def test_what_serves_prints_its_address_as_one_line_of_json(
    words: list[str], saved: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def serve(host: str, port: int, names: list[str], told: Callable[[], None], page: str) -> None:
        pages.append(page)
        asked.append((host, port, names))
        told()

    asked: list[tuple[str, int, list[str]]] = []
    pages: list[str] = []
    monkeypatch.setattr(server, "serve", serve)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.chdir(tmp_path)
    for name in ("BARTVIZ_RECORD", "BARTVIZ_ATLASES"):
        monkeypatch.setenv(name, "")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    given = [saved if word == "SAVED" else word for word in words]
    assert main([*given, "--port", str(port), "--allow", "bart.example", "--json"]) == 0
    said = _said(capsys)
    assert asked == [("127.0.0.1", port, said["names"])]
    expected = "corpus" if words[0] == "open" else ""
    assert pages == [expected]
    assert said["address"] == f"http://127.0.0.1:{port}" + (f"/{expected}" if expected else "")
    assert "bart.example" in said["names"]


def test_serve_prints_the_address_for_apps_as_json(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def deploy(ray: str, replicas: int, cpus: float) -> str:
        return f"{ray} with {replicas} of {cpus:g} CPUs"

    ended: list[str] = []
    monkeypatch.setattr(ray_serve, "deploy", deploy)
    monkeypatch.setattr(ray_serve, "end", ended.append)
    monkeypatch.setattr(ray_cluster, "expect_token", lambda: None)
    monkeypatch.setattr(signal, "signal", lambda number, ending: ending() if number == signal.SIGTERM else None)
    assert main(["serve", "--replicas", "3", "--ray", "10.0.0.5:6379", "--cpus", "0.5", "--json"]) == 0
    assert _said(capsys) == {"address": "10.0.0.5:6379 with 3 of 0.5 CPUs", "replicas": 3}
    assert ended == ["10.0.0.5:6379"]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_has_examples(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    assert f"examples:\n  bartviz {command}" in capsys.readouterr().out


def test_a_changed_record_is_not_exported(saved: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = bytearray(Path(saved).read_bytes())
    data[-1] ^= 1
    Path(saved).write_bytes(bytes(data))
    assert main(["export", saved, str(tmp_path / "car.html")]) == 2
    assert "changed" in capsys.readouterr().err
    assert not (tmp_path / "car.html").exists()
