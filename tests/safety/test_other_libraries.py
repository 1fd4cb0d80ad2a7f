"""Errors of other libraries become our errors; exceptions that stop a program pass."""

from __future__ import annotations

import builtins
import errno
import json
import logging
import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest
from transformers import AutoTokenizer

import bartviz
from bartviz.errors import BartvizError, BudgetError, Cancelled, ModelError, RecordError
from bartviz.language import Later
from bartviz.models import checkpoint, load
from bartviz.models.files import Files
from bartviz.safety import other_libraries
from bartviz.serving import torch_import
from bartviz.text import tokenize
from tests.support import networks


class PanicException(BaseException):
    """What a panic in a Rust library becomes: a BaseException of this name."""


OURS = ModelError("ours")


@pytest.mark.parametrize(
    "fault", [ValueError("x"), OSError(28, "x"), RecursionError(), PanicException("x"), KeyError(1)]
)
def test_what_is_foreign_becomes_ours(fault: BaseException) -> None:
    with pytest.raises(ModelError) as caught, other_libraries.guarded(OURS):
        raise fault
    assert caught.value is OURS
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    "fault", [KeyboardInterrupt(), SystemExit(), GeneratorExit(), Cancelled("x"), RecordError("x")]
)
def test_what_is_ours_or_stops_a_program_passes(fault: BaseException) -> None:
    with pytest.raises(type(fault)) as caught, other_libraries.guarded(OURS):
        raise fault
    assert caught.value is fault


@pytest.mark.parametrize("fault", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory: ...")])
def test_too_little_memory_is_reported(fault: Exception) -> None:
    with pytest.raises(BudgetError, match="not enough memory"), other_libraries.guarded(OURS):
        raise fault


def test_the_log_has_the_place_and_not_the_message(caplog: pytest.LogCaptureFixture) -> None:
    typed = "the text of a visitor"
    with caplog.at_level(logging.INFO, "bartviz"), pytest.raises(ModelError), other_libraries.guarded(OURS):
        raise ValueError(typed)
    assert "ValueError" in caplog.text
    assert Path(__file__).name in caplog.text
    assert "visitor" not in caplog.text


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return networks.save("bart", tmp_path_factory.mktemp("served") / "bart", trained=True)


def refused(name: Any, **options: Any) -> str:
    with pytest.raises(BartvizError) as caught:
        bartviz.load(name, **options)
    assert isinstance(caught.value.args[0], Later)
    return str(caught.value)


@pytest.mark.parametrize("fault", [PanicException("x"), Exception("x"), OSError("x"), TypeError("x")])
def test_a_tokenizer_that_panics(fault: BaseException, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def panic(*_given: object, **_options: object) -> None:
        raise fault

    monkeypatch.setattr(AutoTokenizer, "from_pretrained", panic)
    assert "cannot be built: its files are damaged" in refused(folder)


def test_a_tokenizer_whose_rust_panics(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = networks.save("bert", tmp_path / "bert", trained=True)
    tokenizer = json.loads((folder / "tokenizer.json").read_bytes())
    tokenizer["post_processor"]["special_tokens"] = {}  # its template names them
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    networks.edit(folder, "tokenizer_config.json", tokenizer_class="TokenizersBackend")
    assert "cannot be built: its files are damaged" in refused(folder)
    assert "panicked" in capfd.readouterr().err  # it was one


def test_ids_that_are_none(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build = AutoTokenizer.from_pretrained

    def without(*given: Any, **options: Any) -> Any:
        made = build(*given, **options)
        monkeypatch.setattr(type(made), "get_vocab", lambda _: {"a": 1, "b": None})
        return made

    monkeypatch.setattr(AutoTokenizer, "from_pretrained", without)
    assert "cannot be built: its files are damaged" in refused(folder)


def test_a_tokenizer_that_panics_on_a_text(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = bartviz.load(folder)

    def panic(*_given: object, **_options: object) -> None:
        raise PanicException

    monkeypatch.setattr(tokenize.FastEncoder, "_encode", panic)
    with pytest.raises(ModelError, match="tokenizer of this model fails"):
        bartviz.capture(model, "a car")


def test_a_network_that_fails_on_a_text(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = bartviz.load(folder)
    whole = bartviz.capture(model, "a car", target="a car")

    def fail(*_given: object, **_options: object) -> None:
        raise IndexError("index out of range in self")

    monkeypatch.setattr(model.network.get_encoder(), "forward", fail)
    for run in (
        lambda: bartviz.capture(model, "a car"),
        lambda: bartviz.capture(model, "a car", target="a car"),
        lambda: bartviz.decode(model, "a car", beams=2),
        lambda: bartviz.ablate(model, whole, "cross L0H0"),
    ):
        with pytest.raises(ModelError, match="failed inside the model"):
            run()


def test_a_configuration_that_is_refused_when_it_is_changed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def strict(*_given: object) -> None:
        raise TypeError("pad_token_id")

    monkeypatch.setattr(checkpoint, "_drop_foreign_defaults", strict)
    assert "config.json has values" in refused(folder)


@pytest.mark.parametrize("name", ["bert-tiny-en", "folder"])
def test_a_full_folder_for_temporary_files(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = Path.write_bytes

    def full(path: Path, data: bytes) -> int:
        if Path(tempfile.gettempdir()) in path.parents and "bartviz-" in str(path.parent):
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    assert "TMPDIR" in refused(folder if name == "folder" else name)


def test_no_folder_for_temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    assert "TMPDIR" in refused("bert-tiny-en")


@pytest.mark.parametrize("name", [3, None, b"bert", "", "a\0b", "\ud800", "x" * 10_000, ["bert-tiny-en"], 2.5])
def test_a_name_that_is_none(name: Any) -> None:
    refused(name)
    with pytest.raises(ModelError):
        load.check(name)


@pytest.mark.parametrize("name", [3, None, "a\0b", "\ud800", "x" * 10_000, ["x"]])
def test_a_record_of_no_name(name: Any) -> None:
    with pytest.raises(RecordError, match="cannot be read"):
        bartviz.open(name)


@pytest.mark.parametrize("model", [3, None, "", "a\0b", "\ud800", "x" * 10_000, ["x"], {1: 2}, b"x"])
def test_parameters_of_nothing(model: Any) -> None:
    with pytest.raises(BartvizError):
        bartviz.parameters(model)


def test_a_library_of_models_that_cannot_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def short(name: str, *given: Any, **options: Any) -> Any:
        if name == "bartviz.models":
            raise ImportError("libtorch_cpu.so: failed to map segment from shared object: Cannot allocate memory")
        return real(name, *given, **options)

    monkeypatch.setattr(builtins, "__import__", short)
    assert "too little memory" in refused("bert-tiny-en")


def test_what_nobody_has_foreseen(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Files, "of", lambda *_: 1 / 0)
    assert "not in the expected form" in refused(folder)


def test_one_thread_imports_the_model_library_and_the_others_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """transformers gives a thread that comes while another imports it a package whose names are not there yet."""
    seen: list[str] = []

    def importing() -> None:
        with other_libraries.starting():
            seen.append("starting")

    def library() -> None:
        monkeypatch.setattr(torch_import, "imported", lambda: False)
        torch_import.load()
        seen.append("load")

    threads = [threading.Thread(target=work) for work in (importing, library)]
    with other_libraries.starting():
        for thread in threads:
            thread.start()
            thread.join(0.5)
        seen.append("first")
    for thread in threads:
        thread.join(60)
    assert seen[0] == "first"
    assert sorted(seen[1:]) == ["load", "starting"]
