"""The command line, as somebody types it."""

from __future__ import annotations

import errno
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import bartviz
from bartviz.commands import app
from bartviz.commands.cli import main


@pytest.mark.slow
def test_a_text_that_is_too_long_is_told_the_option_that_cuts_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["capture", "car " * 500]) == 2
    assert capsys.readouterr().err.endswith("tokens read. Add --truncate first or --truncate last.\n")


def test_capture_prints_the_shapes_and_saves_the_record(
    folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "run.safetensors"
    assert main(["capture", "What time is it?", "--model", folder, "--target", "Wie spät?", "--save", str(saved)]) == 0
    out = capsys.readouterr().out
    assert "cross    2 layers x 2 heads" in out
    assert "FAIL" not in out
    assert bartviz.open(saved).target_text == "Wie spät?"


def test_an_option_that_does_not_exist_is_answered_by_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    for words, said in (
        (["capture", "hello", "--modle", "x"], "unrecognized arguments: --modle x. Do you mean --model? See bartviz"),
        (["capture", "hello", "there"], "unrecognized arguments: there. See bartviz capture --help."),
        (["find", "atlas", "--limmit=3"], "Do you mean --limit? See bartviz find --help."),
    ):
        with pytest.raises(SystemExit) as stopped:
            main(words)
        assert stopped.value.code == 2
        assert said in capsys.readouterr().err


@pytest.mark.slow
def test_decode_prints_each_step(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--max-new-tokens", "3", "--ablate", "cross L0H1"]
    assert main(["decode", "What time is it?", "--model", folder, *words]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["0", "1", "2"]
    assert "log p = " in lines[-1]


@pytest.mark.slow
def test_decode_searches_with_beams_and_prints_the_texts(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--beams", "3", "--length-penalty", "0.5", "--early-stopping", "never", "--force", "1= Auto"]
    assert main(["decode", "What time is it?", "--model", folder, "--max-new-tokens", "6", *words]) == 0
    out = capsys.readouterr().out
    assert "[chosen by you]" in out
    ended = [line for line in out.splitlines() if " score " in line]
    assert ended[0].startswith("best")
    assert len(ended) >= 3


@pytest.mark.slow
def test_decode_draws_with_a_seed(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = []
    for seed in ("1", "1", "2"):
        words = ["--max-new-tokens", "5", "--temperature", "1.5", "--top-p", "0.95", "--seed", seed]
        assert main(["decode", "What time is it?", "--model", folder, *words]) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1] != said[2]


def test_an_occupied_port_is_reported_with_a_solution(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert main(["app", "--port", str(port)]) == 2
    said = capsys.readouterr().err
    assert f"port {port} is not free" in said
    assert "make run PORT=" in said


def test_a_port_that_another_server_takes_meanwhile_is_reported_before_any_address(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have found it free; the other has it first."""
    from bartviz.app.frame import server

    free = [None, errno.EADDRINUSE]  # what the two looks at the port find

    def taken(*_arguments: object) -> None:
        raise SystemExit(1)

    monkeypatch.chdir(Path.cwd())  # and back
    monkeypatch.setattr(signal, "signal", lambda *_ending: None)
    monkeypatch.setattr(app, "_port_error", lambda *_place: free.pop(0))
    monkeypatch.setattr(server, "serve", taken)
    assert main(["app", "--port", "8599"]) == 2
    said = capsys.readouterr()
    assert "port 8599 is not free" in said.err
    assert said.out == ""


def test_parameters_and_models_need_no_network(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parameters", "facebook/bart-base"]) == 0
    assert main(["models"]) == 0
    assert "facebook/bart-large-cnn" in capsys.readouterr().out


def test_alone_it_says_what_it_can_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    out = capsys.readouterr().out
    assert all(command in out for command in ("app", "capture", "decode", "align", "parameters", "models"))


def test_the_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out.strip() == bartviz.__version__


@pytest.mark.slow
def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    """As in ``bartviz models | head -1``: the pipe is closed before anything is written."""
    started = subprocess.Popen(
        [sys.executable, "-m", "bartviz", "models"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert started.stdout is not None
    started.stdout.close()
    assert started.stderr is not None
    assert started.stderr.read() == b""
    started.stderr.close()
    assert started.wait() == 0


@pytest.mark.parametrize("command", ["capture", "decode"])
def test_a_device_that_is_not_there_is_refused(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "Yes.", "--device", "die Karte"]) == 2
    assert "There is no device die Karte here. Choose one of: cpu" in capsys.readouterr().err


def test_the_app_refuses_a_device_that_is_not_there(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BARTVIZ_DEVICE", "die Karte")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    assert main(["app", "--port", str(port)]) == 2
    assert "BARTVIZ_DEVICE: There is no device die Karte here." in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["capture", "", "--model", "FOLDER"], "text"),
        (["capture", "x", "--model", "no-such-model"], "model"),
        (["capture", "x", "--model", "FOLDER", "--ablate", "cross L9H9"], "no head"),
        (["decode", "x", "--model", "FOLDER", "--max-new-tokens", "-4"], "choose 1 to"),
        (["decode", "x", "--model", "FOLDER", "--beams", "2", "--seed", "3"], "leave out beams or sample"),
        (["decode", "x", "--model", "FOLDER", "--beams", "2", "--early-stopping", "soon"], "never"),
        (["decode", "x", "--model", "FOLDER", "--force", "Auto"], "invalid"),
        (["decode", "x", "--model", "FOLDER", "--beams", "many"], "invalid"),
        (["capture", "x", "--model", "FOLDER", "--save", "/no/such/folder/x.safetensors"], "cannot be written"),
        (["capture", "x", "--model", "no-such-model", "--save", "x.pdf"], "saved as .safetensors"),
        *((["app", "--port", port], "port") for port in ("0", "65536", "-1", "http")),
        (["attribute", "", "--model", "FOLDER"], "text"),
        (["attribute", "x", "--model", "FOLDER", "--step", "-1"], "no step -1"),
        (["attribute", "x", "--model", "FOLDER", "--method", "magic"], "invalid choice"),
        (["attribute", "x", "--model", "FOLDER", "--method", "rollout", "--contrast", "a"], "Two tokens are compared"),
        (["attribute", "x", "--model", "no-such-model", "--save", "why.docx"], "saved as one of .json"),
        (["export", "SAVED", "car.docx"], "ends in"),
        (["export", "no-such.safetensors", "car.html"], "no such file"),
        (["export", "SAVED"], "required"),
        (["open", "no-such.safetensors"], "no such file"),
        (["open", "."], "There is no atlas"),
        (["parameters"], "name one model"),
        (["parameters", "a", "--model", "b"], "name one model"),
        (["paint"], "invalid choice"),
        (["align", "SAVED", "--layer", "first"], "invalid"),
        (["align", "SAVED", "--layer", "7"], "no cross layer 7"),
        (["align", "SAVED", "--heads", "L9H9"], "no cross layer 9"),
        (["align", "SAVED", "--heads", "best"], "A head is written"),
        (["align", "SAVED", "--method", "threshold", "--threshold", "3"], "above 0 and at most 1"),
        (["align", "SAVED", "--gold", "no-such-file"], "cannot be read"),
    ],
)
def test_an_error_is_one_line_with_status_2(
    folder: str,
    saved: str,
    arguments: list[str],
    words: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    try:
        status: object = main([{"FOLDER": folder, "SAVED": saved}.get(part, part) for part in arguments])
    except SystemExit as stop:
        status = stop.code
    assert status == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.startswith("bartviz: ")
    assert error.count("\n") == 1
