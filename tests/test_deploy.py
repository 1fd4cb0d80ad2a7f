"""The files of deploy/ agree with the app and with each other: options, settings, ports, addresses, names."""

from __future__ import annotations

import re
import tomllib
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import pytest
import yaml

from bartviz.app.frame.monitoring import ROUTES
from bartviz.commands.cli import main
from bartviz.serving import hosts
from scripts import lock
from tests.test_settings_documented import documented

ROOT = Path(__file__).parent.parent
FILES = {path.name: path.read_text("utf-8") for path in (ROOT / "deploy").rglob("*") if path.is_file()}
COMPOSE: dict[str, Any] = yaml.safe_load(FILES["compose.yaml"])
COPIES = {name: service for name, service in COMPOSE["services"].items() if name != "proxy"}
PROXY = COMPOSE["services"]["proxy"]
STREAMLITS = {"STREAMLIT_SERVER_BASE_URL_PATH"}
HEAD: dict[str, Any] = yaml.safe_load((ROOT / "deploy/space/README.md").read_text("utf-8").split("---")[1])


class Unit(ConfigParser):
    """A unit of systemd, whose options have capital letters and may stand twice."""

    def optionxform(self, optionstr: str) -> str:
        return optionstr


def unit() -> Unit:
    read = Unit(strict=False, interpolation=None)
    read.read_string(FILES["bartviz.service"])
    return read


@pytest.fixture
def help_of_app(capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit):
        main(["app", "--help"])
    return capsys.readouterr().out


def test_they_use_options_and_files_that_exist(help_of_app: str) -> None:
    started = re.findall(r"ExecStart=(.*)|ENTRYPOINT (.*)|command: (.*)", "\n".join(FILES.values()))
    used = {option for line in started for option in re.findall(r"--[a-z]+", " ".join(line))}
    assert {"--host", "--allow", "--port"} == used <= set(re.findall(r"--[a-z]+", help_of_app))
    for line in re.findall(r"^COPY (.+) \S+$", FILES["Containerfile"], re.M):
        assert all((ROOT / name).exists() for name in line.split())


def test_they_set_only_what_is_documented() -> None:
    set_in = {
        "compose.yaml": {name for copy in COPIES.values() for name in copy["environment"]},
        "bartviz.service": set(re.findall(r"^Environment=(\w+)", FILES["bartviz.service"], re.M)),
        "Dockerfile": set(re.findall(r"\b(\w+)=", "".join(re.findall(r"^ENV (.+)$", FILES["Dockerfile"], re.M)))),
        "Containerfile": set(re.findall(r"\b(\w+)=", "".join(re.findall(r"^ENV (.+)$", FILES["Containerfile"], re.M)))),
    }
    known = documented().keys() | STREAMLITS | {"HF_HOME", "HF_HUB_OFFLINE", "PYTHONUNBUFFERED"}
    assert {file: names - known for file, names in set_in.items() if names - known} == {}
    assert set(re.findall(r"STREAMLIT_\w+", (ROOT / "docs/deploy.md").read_text("utf-8"))) >= STREAMLITS


def test_the_proxy_of_compose_leads_to_its_copies_and_their_port(help_of_app: str) -> None:
    (port,) = re.findall(r"^EXPOSE (\d+)$", FILES["Containerfile"], re.M)
    assert f"({port})" in help_of_app  # what the container listens on by itself
    assert f"http://127.0.0.1:{port}/" in FILES["Containerfile"]  # where its health is asked
    assert PROXY["environment"]["BARTVIZ_COPIES"].split() == [f"{name}:{port}" for name in COPIES]
    for copy in COPIES.values():
        assert (ROOT / "deploy" / copy["build"]["context"]).resolve() == ROOT
        assert (ROOT / copy["build"]["dockerfile"]).is_file()
        assert copy["command"] == ["--allow", PROXY["environment"]["BARTVIZ_NAME"]]
    assert set(re.findall(r"\{\$(\w+)", FILES["Caddyfile"])) == set(PROXY["environment"])
    file, volume = (mounted.split(":") for mounted in PROXY["volumes"])
    assert (ROOT / "deploy" / file[0]).is_file()
    assert volume[0] in COMPOSE["volumes"]


def test_health_is_asked_where_the_app_answers_under_every_path_and_under_a_name_that_is_served() -> None:
    asked = re.findall(r"127\.0\.0\.1:\d+(/\w+)", FILES["Containerfile"])
    asked += re.findall(r"health_uri (\S+)", FILES["Caddyfile"])
    assert asked == ["/healthz"] * 2
    assert {"/healthz", "/metrics"} <= {route.path for route in ROUTES}
    (name,) = re.findall(r"^\s+Host (\S+)$", FILES["Caddyfile"], re.M)
    assert hosts.serves(hosts.LOCAL, name)
    assert "path /metrics " in FILES["Caddyfile"]


def test_the_container_gets_what_the_source_archive_is_made_of_and_nothing_else() -> None:
    """Named one by one, so that neither the history nor what make builds can get into it."""
    copied = [name for line in re.findall(r"^COPY (.+) \S+$", FILES["Containerfile"], re.M) for name in line.split()]
    build = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]
    archive = {name.split("/")[0] for name in build["targets"]["sdist"]["only-include"]}
    assert {*copied} == archive | {"pyproject.toml", "README.md", "LICENSE", lock.EXACT, lock.LOCK}


def test_the_unit_runs_as_a_user_without_rights_and_can_write_to_its_cache_alone() -> None:
    service = unit()["Service"]
    assert service["User"] == "bartviz"
    assert (service["ProtectSystem"], service["CapabilityBoundingSet"]) == ("strict", "")
    assert f"HF_HOME=/var/cache/{service['CacheDirectory']}" in FILES["bartviz.service"]
    assert service["ExecStart"].startswith(f"{service['WorkingDirectory']}/.venv/bin/python -m bartviz app ")
    assert "MemoryDenyWriteExecute" not in service  # torch makes kernels


def test_the_space_serves_on_its_port_under_its_name_in_its_frame() -> None:
    made = FILES["Dockerfile"]
    assert HEAD.keys() == {
        "title", "emoji", "colorFrom", "colorTo", "sdk", "app_port", "license", "short_description",
    }  # fmt: skip
    assert (HEAD["sdk"], HEAD["license"]) == ("docker", "apache-2.0")
    assert {HEAD["colorFrom"], HEAD["colorTo"]} <= set("red yellow green blue indigo purple pink gray".split())  # noqa: SIM905
    assert len(HEAD["short_description"]) <= 60
    assert re.findall(r'"--port", "(\d+)"', made) == re.findall(r"EXPOSE (\d+)", made) == [str(HEAD["app_port"])]
    assert "BARTVIZ_FRAME_ANCESTORS=https://huggingface.co" in made
    assert "--uid 1000" in made  # the user that a Space runs as


def test_actions_are_pinned_by_commit() -> None:
    """A tag can be moved to other code."""
    workflows = [path.read_text("utf-8") for path in (ROOT / ".github" / "workflows").glob("*.yml")]
    used = [action for text in workflows for action in re.findall(r"uses: *(\S+)", text)]
    assert used
    assert [action for action in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action)] == []
