"""The server around the pages: the log of a page that fails."""

from __future__ import annotations

import logging
import tomllib
from pathlib import Path

import pytest
from streamlit import error_util

from bartviz.app.frame import server
from bartviz.safety import logs


@pytest.fixture
def streamlits() -> logging.Logger:
    return logging.getLogger(error_util.__name__)


def test_a_page_that_fails_is_logged_once_and_without_text(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, streamlits: logging.Logger
) -> None:
    monkeypatch.setattr(logs, "begin", lambda _level: None)
    monkeypatch.setattr(error_util, "show_uncaught_app_exception", lambda _error: None)
    monkeypatch.setattr(streamlits, "filters", [])
    monkeypatch.setattr(streamlits, "propagate", True)
    server._log()
    text = " ".join(["a", "visitor", "wrote"])  # the traceback shows the lines of this test
    try:
        raise ValueError(text)
    except ValueError as error:
        error_util.handle_user_script_exception(error, server.failed)
    (told,) = caplog.records
    assert told.name == "bartviz"
    assert "Traceback" in caplog.text
    assert "test_a_page_that_fails" in caplog.text
    assert text not in caplog.text
    streamlits.warning("anything else")
    assert "anything else" in caplog.text


def test_streamlit_reports_failures_only_to_that_log() -> None:
    config = tomllib.loads((Path(__file__).parents[3] / ".streamlit" / "config.toml").read_text("utf-8"))
    assert config["logger"]["enableRich"] is False
