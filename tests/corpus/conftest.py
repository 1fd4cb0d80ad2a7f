"""What the tests of a corpus share: a small model, by the folder that a worker loads it from."""

from __future__ import annotations

import pytest

from tests.support import loaded


@pytest.fixture(scope="session")
def model() -> str:
    loaded.model("bert")
    return str(loaded.folder() / "bert-0")
