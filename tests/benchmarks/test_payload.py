"""The table of payloads has a line for everybody; the sizes are those of the arrays that are sent."""

from __future__ import annotations

import re

import pytest

from benchmarks import payload


def test_every_way_is_measured_at_a_short_length(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(payload, "LAYERS", 2)
    monkeypatch.setattr(payload, "SECONDS", 0.0)
    payload.report(lengths=(8,), single=(8,))
    lines = capsys.readouterr().out
    assert len(re.findall(r"ms   1 runs", lines)) == 3 + 5 + 1
    assert re.search(r"small maps +0\.002 MB", lines)  # 2 x 12 x 8 x 8 bytes
    assert "not run" not in lines


def test_what_takes_too_long_is_said_not_guessed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(payload, "LAYERS", 2)
    monkeypatch.setattr(payload, "SECONDS", 0.0)
    monkeypatch.setattr(payload, "MOST", 1000)
    payload.report(lengths=(8,), single=())
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[2].strip() for line in lines if "not run" in line] == [
        "bertviz head view",
        "bertviz model view",
    ]
