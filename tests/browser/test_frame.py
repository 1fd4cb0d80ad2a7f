"""Every page by deep link on a fresh server; the guard; the theme; nothing leaves the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from bartviz.ui import registry
from tests.browser.conftest import Open, serve


@pytest.mark.parametrize("entry", registry.PAGES, ids=lambda entry: entry.word)
def test_a_deep_link_that_comes_first_shows_the_whole_app(
    entry: registry.Page, visit: Open, tmp_path: Path, stand_in_file: str
) -> None:
    """A folder named pages starts each server in a mode in which this page would run alone."""
    with serve(tmp_path, BARTVIZ_RECORD=stand_in_file) as address:
        for scheme in ("light", "dark"):
            page = visit(f"{address}/{entry.word if entry is not registry.PAGES[0] else ''}", scheme=scheme)
            page.get_by_role("heading", name=entry.title).wait_for()
            page.get_by_test_id("stSidebar").get_by_role("textbox", name="Text").wait_for()
            assert page.get_by_role("link", name=registry.PAGES[0].label, exact=True).is_visible()
            assert page.get_by_test_id("stDialog").count() == 0
            page.context.close()  # before its server goes
