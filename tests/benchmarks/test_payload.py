"""The table of payloads has a line for everybody; the sizes are those of the arrays that are sent."""

from __future__ import annotations

import re
import time

import pytest

from benchmarks import payload


@pytest.mark.slow
def test_every_way_is_measured_at_a_short_length(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(payload, "LAYERS", 4)
    payload.report(lengths=(8,), single=(8,), large=8, seconds=0.0)
    lines = capsys.readouterr().out
    assert len(re.findall(r"ms   1 runs", lines)) == 3 + 5 + 2 + 1
    assert re.search(r"small maps +0\.003 MB", lines)  # 4 x 12 x 8 x 8 bytes
    assert "not run" not in lines


def test_wall_time_is_printed_where_it_is_another(capsys: pytest.CaptureFixture[str]) -> None:
    def sleeps() -> int:
        time.sleep(0.02)
        return 1000

    payload.row("waits", sleeps, 0.0)
    said = capsys.readouterr().out
    found = re.search(r"0\.001 MB +(\d+\.\d) ms   1 runs   wall (\d+\.\d) ms", said)
    assert found is not None, said
    assert float(found[2]) >= 20 > float(found[1])


@pytest.mark.slow
def test_what_takes_too_long_is_stated_not_guessed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(payload, "LAYERS", 4)
    monkeypatch.setattr(payload, "MOST", 1000)
    payload.report(lengths=(8,), single=(), large=8, seconds=0.0)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[2].strip() for line in lines if "not run" in line] == [
        "bertviz head view",
        "bertviz model view",
    ]
