"""A saved record and the folder of a model, for commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import networks, stand_in
from tests.support.ready_workers import ready_workers

__all__ = ["ready_workers"]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(networks.save("bart", tmp_path_factory.mktemp("model") / "bart", spread=0.3))


@pytest.fixture
def saved(tmp_path: Path) -> str:
    stand_in.record().save(tmp_path / "run.safetensors")
    return str(tmp_path / "run.safetensors")
