"""Text fields are bounded where a text arrives, and a text that is too long is refused with its number."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import pytest

from bartviz.app.state import session
from bartviz.errors import TooLong
from bartviz.serving.limits import TYPED
from bartviz.serving.request import Request
from bartviz.text.clean import MAX_CHARACTERS, clean
from tests.support.pages import App
from tests.support.visits import APP

ROOT = APP.parent
FIELDS = ("text_area", "text_input", "chat_input")
FILES = [*(ROOT / "bartviz" / "app").rglob("*.py"), *(ROOT / "bartviz" / "features").rglob("*.py")]


def _unbounded(file: Path) -> list[str]:
    calls = [node for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.Call)]
    return [
        f"{file.name}:{call.lineno}"
        for call in calls
        if isinstance(call.func, ast.Attribute)
        and call.func.attr in FIELDS
        and "max_chars" not in {argument.arg for argument in call.keywords}
    ]


def test_every_field_has_a_limit() -> None:
    assert [place for file in FILES for place in _unbounded(file)] == []


def test_a_browser_sends_no_more_than_the_fields_hold() -> None:
    server = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))["server"]
    assert TYPED * 4 <= server["maxWidgetStateSize"] * 1e6 <= 1e6  # four bytes a letter


def test_what_is_a_little_too_long_is_refused_with_its_number(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Request] = []
    monkeypatch.setattr(session, "submit", asked.append)
    page = app("start")
    page.text_area(key="text").set_value("a" * (MAX_CHARACTERS + 7))
    next(button for button in page.sidebar.button if button.label == "Run").click().run()
    assert [len(request.text) for request in asked] == [MAX_CHARACTERS + 7]
    with pytest.raises(TooLong, match="has 100,007 characters; at most 100,000"):
        clean(asked[0].text)
