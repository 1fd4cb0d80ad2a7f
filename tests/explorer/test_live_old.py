"""The script of a live page is read by browsers that cannot run its engine, so that it can say so."""

from __future__ import annotations

from pathlib import Path

import pytest

from bartviz.browser.scripts import bundle
from bartviz.explorer import live

HERE = Path(live.__file__).parent


@pytest.mark.parametrize("newer", ["new Intl.Segmenter", ".toWellFormed()", r"\p{sc=Han}"])
def test_the_page_needs_less_of_a_browser_than_its_engine(newer: str) -> None:
    assert newer in bundle(HERE / "engine" / "worker.js")
    assert newer not in bundle(HERE / "live.js")
