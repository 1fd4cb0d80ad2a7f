"""Fixtures of tests that run pages with AppTest: the ``conftest.py`` of a folder with such tests imports them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pandas as pd
import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.pages_manager import PagesManager
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import ElementTree, parse_tree_from_messages

from bartviz.app.state import result_cache
from bartviz.record.record import Record
from bartviz.serving import first_record, torch_import
from bartviz.serving.cache import ByteCache
from tests.support import deltas
from tests.support.visits import APP

__all__ = ["app", "in_order", "no_legacy_pages", "nothing_kept", "one_scan", "own_main", "tables", "there", "unfolded"]

App = Callable[..., AppTest]
scan = cache(manifest_scanner.scan_component_manifests)


@pytest.fixture(scope="package", autouse=True)
def one_scan() -> Iterator[None]:
    """Look for components among the installed packages once: each AppTest would read all their descriptions again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", scan)
        yield


@pytest.fixture(scope="package", autouse=True)
def in_order() -> Iterator[None]:
    """Check that a browser can apply the messages of every AppTest in their order."""

    def checked(messages: list[ForwardMsg]) -> ElementTree:
        deltas.check(messages)
        return parse_tree_from_messages(messages)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("streamlit.testing.v1.local_script_runner.parse_tree_from_messages", checked)
        yield


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """What another test has made is made anew: it may have changed what it is made with."""
    monkeypatch.setattr(result_cache, "_STORE", ByteCache(result_cache.LIMIT))


@pytest.fixture(autouse=True)
def own_main(monkeypatch: pytest.MonkeyPatch) -> None:
    """AppTest puts its page in the place of the main module, which a process that a later test starts would run."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])


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
        test = AppTest.from_file(str(APP), default_timeout=120)
        for name, value in ({"level": "intermediate"} | query).items():
            test.query_params[name] = value
        for section in ("file", "reading", "decoding"):
            test.session_state[f"folded_{section}"] = query.get("level") != "beginner"
        if word != "start":
            test.switch_page(f"pages/{word}.py")
        return test.run()

    return open_page


def unfolded(page: AppTest) -> AppTest:
    """The page with everything open that is made when it is opened."""
    for part in page.expander:
        if part.proto.id:
            page.session_state[part.proto.id.split("-", 2)[2]] = True
    return page.run()


def tables(page: AppTest) -> list[pd.DataFrame]:
    """Every table of the page, after everything that is folded has been opened."""
    return [frame.value for frame in unfolded(page).dataframe]


@pytest.fixture(autouse=True)
def no_legacy_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start each AppTest where a warm server is.

    ``AppTest.run`` forgets that ``st.navigation`` has run, so with a ``pages`` folder every run begins in the old
    multipage mode; the guard of the pages repairs that with a rerun, which swallows the click under test.
    """
    begin = PagesManager.__init__

    def without(self: PagesManager, *args: Any, **options: Any) -> None:
        begin(self, *args, **options)
        PagesManager.uses_pages_directory = False

    monkeypatch.setattr(PagesManager, "__init__", without)


@pytest.fixture(autouse=True)
def there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip a test that opens the page of a feature which has been deleted (``scripts/without.py``)."""
    switch = AppTest.switch_page

    def open_page(self: AppTest, path: str) -> AppTest:
        if not (APP.parent / path).exists():
            pytest.skip(f"there is no {path}")
        return switch(self, path)

    monkeypatch.setattr(AppTest, "switch_page", open_page)
