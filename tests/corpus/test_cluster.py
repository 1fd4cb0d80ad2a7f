"""A corpus measured by workers of Ray: whoever is killed, every row counts once, and the atlas is the local one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil
import pytest
from pandas.testing import assert_frame_equal

import bartviz
from bartviz.commands.cli import main
from bartviz.corpus.run import corpus
from tests.support import loaded
from tests.support.process import ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed: bartviz[ray]"),
]
SIZE = 2
TEXTS = [f"the {one} sat on the {two}" for one in ("cat", "dog", "mat", "man") for two in ("mat", "cat and it sat")]

RUN = """
import json, os, signal, sys
import psutil
from bartviz.corpus.run import corpus
path, model, out, workers, killed = sys.argv[1:]
seen = {"killed": [], "rows": 0}
def report(progress):
    seen["rows"] += 1
    children = psutil.Process().children(recursive=True)
    if killed == "worker" and not seen["killed"]:
        seen["killed"] = [child.pid for child in children if "ray::Worker" in " ".join(child.cmdline())]
        os.kill(seen["killed"][0], signal.SIGKILL)
    if killed == "driver" and progress.rows >= 4:
        print(json.dumps([child.pid for child in children if "Agent" not in child.name()]), flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
corpus(path, model, out, size=2, workers=int(workers), ray="local", report=report)
print(json.dumps(seen))
"""


@pytest.fixture(scope="module")
def model() -> str:
    loaded.model("bert")
    return str(loaded.folder() / "bert-0")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("corpus") / "corpus.txt"
    file.write_text("\n".join(TEXTS), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def whole(model: str, path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("whole") / "atlas"
    corpus(path, model, out, size=SIZE)
    return out


def run(path: Path, model: str, out: Path, workers: int, killed: str) -> tuple[int, Any]:
    """The exit status, and what the process printed last."""
    command = [sys.executable, "-c", RUN, str(path), model, str(out), str(workers), killed]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=environment, timeout=500)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout.splitlines()[-1])


def assert_same(one: Path, two: Path) -> None:
    """Counts exactly, sums to 1e-9."""
    first, second = bartviz.open_atlas(one), bartviz.open_atlas(two)
    assert first.heads["n"].tolist() == second.heads["n"].tolist()
    assert first.description["texts"] == second.description["texts"] == len(TEXTS)
    assert_frame_equal(first.histograms, second.histograms)
    assert_frame_equal(first.heads, second.heads, rtol=1e-9, atol=1e-12)
    assert_frame_equal(first.examples, second.examples, rtol=1e-9, atol=1e-12)


@pytest.mark.thorough
def test_a_worker_that_is_killed_starts_again_and_every_row_counts_once(
    model: str, path: Path, whole: Path, tmp_path: Path
) -> None:
    status, seen = run(path, model, tmp_path / "atlas", 2, "worker")
    assert status == 0
    assert seen["killed"]
    assert seen["rows"] == len(TEXTS) / SIZE
    assert_same(tmp_path / "atlas", whole)


@pytest.mark.thorough
def test_a_caller_that_is_killed_leaves_no_process_and_is_resumed_without_ray(
    model: str, path: Path, whole: Path, tmp_path: Path
) -> None:
    """But for two agents of Ray, which look for their parent now and then and end some minutes later."""
    status, processes = run(path, model, tmp_path / "atlas", 1, "driver")
    assert status == -signal.SIGKILL
    assert len(processes) > 1
    left = [psutil.Process(process) for process in processes if psutil.pid_exists(process)]
    psutil.wait_procs(left, timeout=60)
    assert not [process for process in left if process.is_running()]
    assert len(list((tmp_path / "atlas" / "shards").glob("*.shard"))) >= 2
    corpus(path, model, tmp_path / "atlas", size=SIZE, resume=True)
    assert_same(tmp_path / "atlas", whole)


def test_an_address_where_no_ray_answers_is_refused(
    model: str, path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["corpus", str(path), "--model", model, "--out", str(tmp_path / "atlas"), "--ray", "127.0.0.1:1"]
    assert main(command) == 2
    assert "Nothing answers at 127.0.0.1:1" in capsys.readouterr().err
