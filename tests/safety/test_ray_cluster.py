"""A Ray of our own is private: its folder, which its sockets' paths fit in."""

from __future__ import annotations

import stat
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bartviz.safety import ray_cluster

LONGEST_SOCKET = 107  # of a path on Linux, sockaddr_un without its last zero
SOCKET = "session_2026-12-31_23-59-59_999999_9999999/sockets/plasma_store"


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What Ray was begun with; it is pretended."""
    calls: list[dict[str, Any]] = []
    pretended = SimpleNamespace(init=lambda **settings: calls.append(settings))
    monkeypatch.setitem(sys.modules, "ray", pretended)
    monkeypatch.setitem(sys.modules, "ray.exceptions", SimpleNamespace(RayError=RuntimeError))
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.setenv("RAY_AUTH_TOKEN", "0" * 64)
    return calls


@pytest.mark.parametrize("long", [False, True])
def test_a_ray_of_our_own_has_a_folder_of_its_owner(
    begun: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, long: bool
) -> None:
    if long:
        (deep := tmp_path / ("deep" * 20)).mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(deep))
    ray_cluster.connected(ray_cluster.LOCAL)
    ray_cluster.connected(ray_cluster.LOCAL)
    first, second = (Path(settings["_temp_dir"]) for settings in begun)
    for folder in (first, second):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert len(str(folder / SOCKET)) <= LONGEST_SOCKET
        folder.rmdir()
    assert first != second


def test_a_ray_of_others_keeps_its_own(begun: list[dict[str, Any]]) -> None:
    ray_cluster.connected("auto")
    assert "_temp_dir" not in begun[0]
