"""The message for a first record that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from bartviz.serving import first_record, torch_import
from tests.support.visits import APP


@pytest.fixture(autouse=True)
def read_anew() -> Iterator[None]:
    first_record.read.cache_clear()
    yield
    first_record.read.cache_clear()


def test_the_page_says_so_and_shows_what_ships(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_import, "warm_up", lambda delay: None)
    file = tmp_path / "cut.safetensors"
    file.write_bytes(first_record.FILE.read_bytes()[:5000])
    monkeypatch.setenv("BARTVIZ_RECORD", str(file))
    page = AppTest.from_file(str(APP), default_timeout=120).run()
    assert not page.exception
    assert page.error[0].value.startswith("The record that BARTVIZ")
    assert any(b'"buy"' in part.proto.bytes for part in page.get("bidi_component"))
    page.switch_page("pages/masks.py").run()
    assert page.error
    assert page.main.get("bidi_component")  # the page stands below the sentence
    page = next(button for button in page.button if button.label == "Close").click().run()
    assert not page.error
