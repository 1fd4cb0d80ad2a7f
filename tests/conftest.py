"""Fixtures that every test may use."""

from __future__ import annotations

from typing import Any

import pytest

from bartviz.record import Record
from tests import stand_in


@pytest.fixture
def record() -> Record:
    """An encoder-decoder record with random numbers."""
    return stand_in.record()


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
