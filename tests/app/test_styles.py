"""Styles reach the browser whole: a sign that could begin HTML makes it throw the style away."""

from __future__ import annotations

from pathlib import Path

import pytest

from bartviz import app as ui

STYLES = sorted(Path(ui.__file__).parent.rglob("*.css"))


@pytest.mark.parametrize("file", STYLES, ids=lambda file: file.name)
def test_a_style_has_no_sign_that_begins_html(file: Path) -> None:
    assert "<" not in file.read_text("utf-8")
