"""Fixtures that every test may use."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from streamlit.components.v2 import manifest_scanner
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import ElementTree, parse_tree_from_messages

from bartviz.app.state import once
from bartviz.record.record import Record
from bartviz.serving import first_record, torch_import
from bartviz.serving.cache import ByteCache
from tests.support import deltas, stand_in

ROOT = Path(__file__).parents[1]
App = Callable[..., AppTest]

# The same examples in every run, and no clock: a busy machine is no fault.
settings.register_profile("bartviz", deadline=None, derandomize=True)
settings.load_profile("bartviz")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is imported and collected stays to the end: the garbage collector need not look at it again and again."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def one_scan() -> Iterator[None]:
    """Look for components among the installed packages once: else every AppTest reads all their descriptions again."""
    with pytest.MonkeyPatch.context() as patch:
        found = cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", found)
        yield


@pytest.fixture(scope="session", autouse=True)
def in_order() -> Iterator[None]:
    """What every AppTest sends is what a browser can put together."""

    def checked(messages: list[ForwardMsg]) -> ElementTree:
        deltas.check(messages)
        return parse_tree_from_messages(messages)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("streamlit.testing.v1.local_script_runner.parse_tree_from_messages", checked)
        yield


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """What another test has made is made anew: it may have changed what it is made with."""
    monkeypatch.setattr(once, "_STORE", ByteCache(once.LIMIT))


@pytest.fixture(autouse=True)
def own_main(monkeypatch: pytest.MonkeyPatch) -> None:
    """AppTest puts its page in the place of the main module, which a process that a later test starts would run."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])


@pytest.fixture
def record() -> Record:
    """An encoder-decoder record with random numbers."""
    return stand_in.record()


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch, record: Record) -> App:
    """``app("heads", record=..., layer="2")`` is that page in a session that has just come, with this query.

    The visitor is no beginner: nothing is folded away. The app starts with ``record`` (the random one if none is
    given, nothing where it is None); torch stays out.
    """
    monkeypatch.setattr(torch_import, "warm_up", lambda delay: None)
    monkeypatch.setattr(torch_import, "imported", lambda: False)  # whatever other tests have imported

    def open_page(word: str = "start", *, record: Record | None = record, **query: str) -> AppTest:
        monkeypatch.setattr(first_record, "record", lambda: record)
        test = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
        for name, value in ({"level": "intermediate"} | query).items():
            test.query_params[name] = value
        for section in ("file", "reading", "decoding"):
            test.session_state[f"folded_{section}"] = query.get("level") != "beginner"
        if word != "start":
            test.switch_page(f"pages/{word}.py")
        return test.run()

    return open_page


@pytest.fixture(autouse=True)
def no_legacy_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start each AppTest where a warm server is.

    ``AppTest.run`` forgets that ``st.navigation`` has run, so with a ``pages`` folder every run begins in the old
    multipage mode; the guard of the pages repairs that with a rerun, which swallows the click under test.
    """
    from streamlit.runtime.pages_manager import PagesManager

    begin = PagesManager.__init__

    def without(self: PagesManager, *args: Any, **options: Any) -> None:
        begin(self, *args, **options)
        PagesManager.uses_pages_directory = False

    monkeypatch.setattr(PagesManager, "__init__", without)
