"""Replicas of Ray Serve, started by the command: apps compute there, and a replica that is killed is replaced."""

from __future__ import annotations

import json
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bartviz.commands.cli import main
from bartviz.errors import SettingError
from bartviz.safety import ray_cluster
from bartviz.serving import ray_serve
from scripts.serving import free_port, health
from scripts.visitor import answered, wait_for
from tests.support import networks
from tests.support.process import ROOT

needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed: bartviz[ray]")
TEXT = "the cat sat on the mat"

APP = """
import hashlib, json, os, signal, sys, time
import psutil
from bartviz.serving.limits import Limits
from bartviz.serving.ray_serve import RayReplicas
from bartviz.serving.remote import RemoteEngine
from bartviz.serving.request import Request

address, text, kill = sys.argv[1:]
engine = RemoteEngine(Limits(), RayReplicas(address))
def digest(run):
    assert run.wait(200), run.state
    if run.error is not None:
        return str(run.error)
    record = run.result
    arrays = [getattr(record.attention(kind), name) for kind in record.kinds for name in ("q", "k", "v", "out")]
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()
def slow(model, ticket):
    import os, time
    ticket.report("begun")
    for _ in range(40):
        time.sleep(0.1)
    return os.getpid()
runs = {}
if kill == "kill":
    slow_run = engine.work("visitor", "small-bart", {"work": "slow"}, slow, lambda pid: 8)
    while slow_run.progress[0] != "begun":
        time.sleep(0.01)
    first = [process for process in psutil.process_iter(["pid", "cmdline"])
             if (process.info["cmdline"] or [""])[0].startswith("ray::ServeReplica")]
    for process in first:
        os.kill(process.info["pid"], signal.SIGKILL)
    assert slow_run.wait(200)
    runs["pid"] = [slow_run.result, [process.info["pid"] for process in first], str(slow_run.error)]
runs["record"] = digest(engine.start("a", Request("small-bart", text, max_new_tokens=4)))
runs["refused"] = digest(engine.start("b", Request("small-bart", "")))
runs["torch"] = "torch" in sys.modules
print(json.dumps(runs))
"""


HERE = """
import hashlib, sys
from bartviz.serving.engine import Engine
from bartviz.serving.limits import Limits
from bartviz.serving.request import Request
run = Engine(Limits()).start("a", Request("small-bart", sys.argv[1], max_new_tokens=4))
assert run.wait(200)
record = run.result
arrays = [getattr(record.attention(kind), name) for kind in record.kinds for name in ("q", "k", "v", "out")]
print(hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest())
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Of a user whose token is where ``ray get-auth-token --generate`` leaves it."""
    folder, home = tmp_path_factory.mktemp("models"), tmp_path_factory.mktemp("home")
    networks.save("bart", folder / "small-bart")
    (home / ".ray").mkdir()
    (home / ".ray" / "auth_token").write_text(secrets.token_hex(32))
    ours = {"BARTVIZ_MODEL_ROOTS": str(folder), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "HOME": str(home)}
    return {name: value for name, value in os.environ.items() if not name.startswith("RAY_")} | ours


@pytest.fixture(scope="module")
def address(environment: dict[str, str]) -> Iterator[str]:
    """Of two replicas, which end with status 0 when they are told to."""
    command = [sys.executable, "-m", "bartviz", "serve", "--replicas", "2", "--cpus", "0.5"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment) as serving:
        assert serving.stdout is not None
        line = serving.stdout.readline()
        found = re.search(r"BARTVIZ_COMPUTE=(\S+) ", line)
        assert found, line
        yield found[1]
        serving.send_signal(signal.SIGTERM)
        assert serving.wait(120) == 0


def asked(address: str, environment: dict[str, str], kill: str = "") -> dict[str, Any]:
    command = [sys.executable, "-c", APP, address, TEXT, kill]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=environment, timeout=500)
    assert done.stdout, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@needs_ray
@pytest.mark.thorough
@pytest.mark.slow
def test_two_apps_get_the_record_that_this_machine_makes(address: str, environment: dict[str, str]) -> None:
    here = subprocess.run(
        [sys.executable, "-c", HERE, TEXT], capture_output=True, text=True, check=True, cwd=ROOT, env=environment
    ).stdout.strip()
    for _app in range(2):
        found = asked(address, environment)
        assert found["record"] == here
        assert found["refused"].startswith("The text is empty")
        assert not found["torch"]


@needs_ray
@pytest.mark.thorough
@pytest.mark.slow
def test_a_run_whose_replica_is_killed_begins_again_on_another(address: str, environment: dict[str, str]) -> None:
    found = asked(address, environment, "kill")
    result, killed, error = found["pid"]
    assert error == "None"
    assert len(killed) == 2
    assert result not in killed
    assert found["record"] == asked(address, environment)["record"]


@needs_ray
@pytest.mark.thorough
@pytest.mark.slow
def test_an_app_that_uses_replicas_ends_as_others_do(address: str, environment: dict[str, str]) -> None:
    """Ray would put a handler of its own before the app's, which prints the stack, and sometimes aborts."""
    here = f"http://127.0.0.1:{(port := free_port())}"
    command = [sys.executable, "-m", "bartviz", "app", "--port", str(port)]
    ours = environment | {"BARTVIZ_COMPUTE": address}
    with subprocess.Popen(command, cwd=ROOT, env=ours, stderr=subprocess.PIPE, text=True) as app:
        while health(here, 2) is None:
            assert app.poll() is None
            time.sleep(0.1)
        wait_for(answered(here, TEXT))
        app.send_signal(signal.SIGTERM)
        assert "SIGTERM received" not in app.communicate(timeout=120)[1]
        assert app.returncode == 0


def test_tokens_are_not_among_the_settings_of_replicas_which_ray_logs() -> None:
    given = {"BARTVIZ_MODEL_MB": "9", "HF_HUB_OFFLINE": "1", "HF_TOKEN": "h", "RAY_AUTH_TOKEN": "r", "HOME": "/"}
    assert ray_serve.passed_on(given) == {"BARTVIZ_MODEL_MB": "9", "HF_HUB_OFFLINE": "1"}


def test_an_app_that_comes_before_the_replicas_finds_them_later(monkeypatch: pytest.MonkeyPatch) -> None:
    class NotYet(Exception):
        pass

    running: list[str] = []

    def handle(name: str) -> str:
        if not running:
            raise NotYet
        return name

    connections: list[str] = []
    serve = SimpleNamespace(get_app_handle=handle, exceptions=SimpleNamespace(RayServeException=NotYet))
    monkeypatch.setattr(ray_serve, "_serve", lambda: serve)
    monkeypatch.setattr(ray_serve, "connected", connections.append)
    replicas = ray_serve.RayReplicas("127.0.0.1:1")
    for _visit in range(2):
        with pytest.raises(SettingError, match="start them with bartviz serve"):
            replicas.connect()
    running.append("bartviz")
    replicas.connect()
    assert connections == ["127.0.0.1:1"]  # Ray refuses a second one


@pytest.fixture
def without_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ray_cluster.TOKENS:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("without_token")
def test_replicas_need_a_token_that_apps_can_have_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve"]) == 2
    assert "Ray needs a token" in capsys.readouterr().err


class WithoutRay:
    """Stands for the package ray, and its exceptions."""

    RayError = OSError

    def init(self, **settings: Any) -> None:
        assert settings["address"] == ray_cluster.LOCAL


@pytest.mark.usefixtures("without_token")
def test_a_ray_of_our_own_takes_the_token_that_the_user_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Apps have no other; without one it makes a token that nobody else can know."""
    monkeypatch.setattr(ray_cluster, "import_module", lambda name: WithoutRay())
    for name in ("RAY_AUTH_MODE", "RAY_USAGE_STATS_ENABLED", "RAY_AUTH_TOKEN", "RAY_DISABLE_FAILURE_SIGNAL_HANDLER"):
        monkeypatch.setenv(name, "")  # so that it is as before after the test
        monkeypatch.delenv(name)
    (tmp_path / ".ray").mkdir()
    token = tmp_path / ".ray" / "auth_token"
    token.write_text("of this user")
    ray_cluster.connected(ray_cluster.LOCAL)
    assert "RAY_AUTH_TOKEN" not in os.environ
    token.unlink()
    ray_cluster.connected(ray_cluster.LOCAL)
    assert len(os.environ["RAY_AUTH_TOKEN"]) == 64


@pytest.mark.parametrize(
    ("settings", "message"),
    [("--replicas 0", "choose 1 to 1000"), ("--cpus 0", "choose one above 0"), ("--cpus x", "x")],
)
def test_a_number_that_makes_no_sense_is_refused(
    settings: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["serve", *settings.split()])
    assert message in capsys.readouterr().err


@pytest.mark.usefixtures("without_token")
def test_an_app_says_at_its_start_why_it_cannot_reach_replicas(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = ["app", "--port", str(port)]
    monkeypatch.setenv("BARTVIZ_COMPUTE", "127.0.0.1:1")
    monkeypatch.setattr(ray_cluster, "find_spec", lambda name: None)
    assert main(command) == 2
    assert "BARTVIZ_COMPUTE: This needs ray, which is not installed." in capsys.readouterr().err
    monkeypatch.setattr(ray_cluster, "find_spec", lambda name: object())
    assert main(command) == 2
    assert "BARTVIZ_COMPUTE: Ray needs a token" in capsys.readouterr().err
    monkeypatch.setenv("RAY_AUTH_TOKEN", "of this test")
    assert main(command) == 2
    assert "BARTVIZ_COMPUTE: Nothing answers at 127.0.0.1:1" in capsys.readouterr().err
    monkeypatch.setenv("BARTVIZ_COMPUTE", "local")
    assert main(command) == 2
    assert "BARTVIZ_COMPUTE: An address is needed" in capsys.readouterr().err
