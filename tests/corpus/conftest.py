"""What the tests of a corpus share: a small model, by the folder that a worker loads it from."""

from __future__ import annotations

import pytest

from tests.support import loaded
from tests.support.ready_workers import ready_workers

__all__ = ["ready_workers"]


@pytest.fixture(scope="session")
def model() -> str:
    loaded.model("bert")
    return str(loaded.folder() / "bert-0")
