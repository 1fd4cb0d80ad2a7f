"""One logger: its level from the environment, and tracebacks without the messages of errors."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from bartviz.errors import SettingError
from bartviz.safety import logs


def test_the_level_is_set_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(logs.SETTING, raising=False)
    assert logs.level() == logs.DEFAULT
    for said in logs.LEVELS:
        monkeypatch.setenv(logs.SETTING, f" {said.upper()} ")
        assert logs.level() == said


@pytest.mark.parametrize("said", ["loud", "3", "debug info", "no\nlevel"])
def test_a_word_that_is_no_level_is_refused_with_the_choices(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(logs.SETTING, said)
    with pytest.raises(SettingError, match="BARTVIZ_LOG must be debug, info, warning or error; unset it for warning"):
        logs.level()


@pytest.mark.parametrize(("said", "told"), [("info", ["seen", "grave"]), ("error", ["grave"])])
def test_a_server_writes_what_is_at_least_of_that_level(said: str, told: list[str]) -> None:
    begin = f"logs.begin({said!r}); " * 2
    code = f"from bartviz.safety import logs; {begin} logs.log.info('seen'); logs.log.error('grave')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert [line.rpartition(": ")[2] for line in done.stderr.splitlines()] == told


def test_a_traceback_has_lines_but_no_messages() -> None:
    def inner() -> None:
        raise ValueError("secret")

    try:
        try:
            inner()
        except ValueError:
            raise OSError("secret") from None  # who raised it so did not want the first one shown
    except OSError as error:
        said = logs.where(error)
    assert "in test_a_traceback" in said
    assert "builtins.OSError" in said
    assert "ValueError" not in said.replace("except ValueError", "")
    assert ": secret" not in said


def test_errors_that_lead_to_each_other_end() -> None:
    first, second = ValueError(), KeyError()
    first.__cause__, second.__cause__ = second, first
    assert logs.where(first).count("Traceback") == 2


@pytest.mark.slow
def test_a_wrong_level_is_refused_before_the_server_starts() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bartviz", "app", "--port", "18190"],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "BARTVIZ_LOG": "loud"},
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("bartviz: BARTVIZ_LOG must be debug, info")
    assert "http" not in done.stdout
