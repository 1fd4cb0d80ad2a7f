"""Styles reach the browser whole: a sign that could begin HTML makes it throw the style away."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.layers import PACKAGE

STYLES = [file for file in sorted(PACKAGE.rglob("*.css")) if file.parent.name != "vendor"]


@pytest.mark.parametrize("file", STYLES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_a_style_has_no_sign_that_begins_html(file: Path) -> None:
    assert "<" not in file.read_text("utf-8")
