"""What several tests of this folder use."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import networks


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two small models, ``small-bart`` and ``small-bert``."""
    folder = tmp_path_factory.mktemp("models")
    networks.save("bart", folder / "small-bart")
    networks.save("bert", folder / "small-bert")
    return folder
