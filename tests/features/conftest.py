"""The fixtures of pages, small random models of the pages that run one, and an engine that loads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from bartviz.app import streamlit_internals
from bartviz.app.state import session
from bartviz.serving.engine import Engine
from bartviz.serving.limits import Limits
from tests.support import networks
from tests.support.near import Sending
from tests.support.pages import app, in_order, no_legacy_pages, nothing_kept, one_scan, own_main, there

__all__ = ["app", "in_order", "no_legacy_pages", "nothing_kept", "one_scan", "own_main", "there"]

FAMILIES = ("bart", "bert", "gpt2", "t5")
MOST_NEW = 20  # tokens of an output: a random network hardly ever ends one


@pytest.fixture(scope="session")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small random model of each family, ``small-bart`` and so on; no test writes into it."""
    folder = tmp_path_factory.mktemp("models")
    for family in FAMILIES:
        path = networks.save(family, folder / f"small-{family}", spread=0.3)
        if family != "bert":
            networks.edit(path, "generation_config.json", max_new_tokens=MOST_NEW)
    return folder


@pytest.fixture
def engine(root: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """An engine of this test alone, for a session that is always there and waits long enough for a small model.

    What pages ask of it, and what they get, is packed and unpacked as if replicas in other processes computed it.
    """
    monkeypatch.setenv("BARTVIZ_MODEL_ROOTS", str(root))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    own = Sending(Limits())
    monkeypatch.setattr(session, "engine", lambda: own)
    monkeypatch.setattr(streamlit_internals, "is_alive", lambda _session: True)
    monkeypatch.setattr(session, "PATIENCE", 60)
    return own
