"""Tasks of the corpus page that run at once."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from bartviz import load
from bartviz.app.controls import tasks


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Tasks run here, where there is no server to run them; the models that were asked."""
    made: dict[str, Any] = {}
    asked: list[str] = []

    def begin(name: str, model: str, key: dict[str, object], work: Any) -> None:
        asked.append(model)
        made[name] = key, work(load(model), SimpleNamespace(cancelled=lambda: False, report=lambda *_note: None))

    monkeypatch.setattr(tasks, "begin", begin)
    monkeypatch.setattr(tasks, "begun", lambda name: made.get(name, (None,))[0])
    monkeypatch.setattr(tasks, "show", lambda name, _key=None: made.get(name, (None, None))[1])
    return asked
