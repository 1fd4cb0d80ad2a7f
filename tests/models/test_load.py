"""Names are resolved before the model library is imported."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import bartviz
from bartviz.errors import ModelError
from bartviz.models import load
from tests.support import networks

COMMIT = "0123456789" * 4


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the hub, and a hub at a port where nobody listens."""
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.mark.some(2)
@pytest.mark.slow
@pytest.mark.parametrize(
    "work",
    [
        "import bartviz; bartviz.load('gpt2')",
        "import bartviz; bartviz.load('http://example.org/x')",
        "import bartviz; bartviz.load('gpt2', revision='../x')",
        "import bartviz; bartviz.load('..', roots=())",
        "from bartviz.commands.cli import main; raise SystemExit(main(['capture', 'x', '--model', 'gpt2']))",
        "from bartviz.serving.engine import Engine; from bartviz.serving.request import Request\n"
        "from bartviz.serving.limits import Limits\n"
        "run = Engine(Limits()).start('a', Request('gpt2', 'x')); run.wait(60); raise run.error",
    ],
)
def test_what_cannot_be_had_is_refused_without_torch(work: str, offline: Path) -> None:
    assert not offline.exists()
    told = "import atexit, sys; atexit.register(lambda: print(sorted({'torch', 'transformers'} & set(sys.modules))))\n"
    out = subprocess.run([sys.executable, "-c", told + work], capture_output=True, text=True, check=False)
    assert out.stdout == "[]\n"
    assert out.returncode != 0
    assert "hub" in out.stderr or "revision" in out.stderr or "model" in out.stderr


def test_what_is_on_this_machine_passes(offline: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be reached"):
        load.check("owner/small-bart")
    place = offline / "models--owner--small-bart"
    networks.save("bart", place / "snapshots" / COMMIT)
    (place / "refs").mkdir()
    (place / "refs" / "main").write_text(COMMIT, "ascii")
    load.check("owner/small-bart")
    load.check("owner/small-bart", COMMIT)
    load.check("bert-tiny-en")
    load.check(place / "snapshots" / COMMIT)
    load.check(os.fspath(place / "snapshots" / COMMIT), roots=(tmp_path,))
    with pytest.raises(ModelError, match="cannot be reached"):
        load.check("owner/small-bart", "v2")


def test_what_was_asked_for_is_handed_on() -> None:
    model = load.load("bert-tiny-en", roots=(), budget=10**9, deadline=300)
    assert model.info.name == "bert-tiny-en"


def test_a_model_is_called_as_its_caller_wants(tmp_path: Path) -> None:
    folder = networks.save("bert", tmp_path / "clf" / "model")
    assert load.load(folder).info.name == "clf"
    record = bartviz.capture(load.load(folder, name="Sentiment"), "Hello.")
    assert record.model.name == "Sentiment"
    assert "Sentiment" in bartviz.paper.map(record, "encoder", 0, 0).caption


@pytest.mark.thorough
@pytest.mark.slow
def test_a_python_without_docstrings_is_named() -> None:
    code = (
        "import bartviz\nfrom bartviz.errors import ModelError\n"
        "try:\n    bartviz.load('bert-tiny-en')\nexcept ModelError as error:\n    print(error)"
    )
    ran = subprocess.run([sys.executable, "-OO", "-c", code], capture_output=True, text=True, check=True)
    assert "-OO" in ran.stdout
